package app

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/observe"
)

// Role is one part of the work, which any number of processes may do.
type Role string

// The roles. Those of a run share its work by consumer groups of the run; memory and warehouse project every run.
const (
	RoleDesigner  Role = "designer"  // answers design requests
	RoleRollout   Role = "rollout"   // plays accepted environments
	RoleScorer    Role = "scorer"    // estimates regrets and pays designers
	RoleTrainer   Role = "trainer"   // leads the run: one is elected, the others stand by
	RolePolicy    Role = "policy"    // answers designer and rollout in other processes
	RoleMemory    Role = "memory"    // projects documents and environments into the vector store
	RoleWarehouse Role = "warehouse" // projects the log into the warehouse
)

// Roles lists all roles.
func Roles() []Role {
	return []Role{RoleDesigner, RoleRollout, RoleScorer, RoleTrainer, RoleMemory, RoleWarehouse, RolePolicy}
}

// allRoles are what one process plays that runs a run by itself.
func allRoles() []Role {
	return []Role{RoleDesigner, RoleRollout, RoleScorer, RoleTrainer, RoleMemory, RoleWarehouse}
}

// plays reports whether the role runs the code of environments.
func (r Role) plays() bool { return r == RoleDesigner || r == RoleRollout || r == RoleTrainer }

// asks reports whether the role asks the policy.
func (r Role) asks() bool { return r == RoleDesigner || r == RoleRollout }

// remembers reports whether the role asks the memory: the leader does for the overlap of held-out tasks.
func (r Role) remembers() bool { return r == RoleDesigner || r == RoleTrainer || r == RoleMemory }

// projects reports whether the role is a projection of the whole log.
func (r Role) projects() bool { return r == RoleMemory || r == RoleWarehouse }

// Needs are the services that the role uses, beside the log.
func (r Role) Needs() (warehouse, vectors bool) { return r == RoleWarehouse, r.remembers() }

// group is the name of a role's consumer group in a run.
func group(role string, run uuid.UUID) string {
	return "spade." + role + "." + run.String()
}

// Working says whether a process works on a run now: whether one is in the consumer group of its episodes. An import has no
// such group.
func Working(log *bus.Client) func(ctx context.Context, run uuid.UUID) (bool, error) {
	return func(ctx context.Context, run uuid.UUID) (bool, error) {
		n, err := log.Members(ctx, group("rollout", run))
		return n > 0, err
	}
}

// poison is where a role keeps what it cannot decode.
func (s *Services) poison(role string) *deadletter.Writer {
	return &deadletter.Writer{Log: s.Bus, Source: observe.NewSource(role), Consumer: role}
}

// ended turns the end of a role into an error unless it was asked to end.
func ended(ctx context.Context, role string, err error) error {
	if ctx.Err() != nil && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, context.Cause(ctx))) {
		return nil
	}
	if err == nil {
		err = errors.New("ended by itself")
	}
	return fmt.Errorf("%s: %w", role, err)
}
