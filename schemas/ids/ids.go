package ids

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/google/uuid"
)

// Arms of an environment: the agent plays it without and with the privileged hint.
const (
	ArmPlain  = "plain"
	ArmHinted = "hinted"
)

// namespace is the root of all ids: UUIDv5 of the URL namespace and the project's name.
func namespace() uuid.UUID {
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte("spade"))
}

// derive is UUIDv5 in the namespace of one kind of thing; the parts are joined by "/". At most one part of a kind may hold
// one itself, a run's name or a task's, so that no two lists of parts read alike.
func derive(kind string, parts ...string) uuid.UUID {
	ns := uuid.NewSHA1(namespace(), []byte(kind))
	return uuid.NewSHA1(ns, []byte(strings.Join(parts, "/")))
}

// Run is the id of the run of that name.
func Run(name string) uuid.UUID { return derive("run", name) }

// Env is the id of one design: an attempt at a slot of an iteration.
func Env(run uuid.UUID, iteration, slot, attempt int) uuid.UUID {
	return derive("env", run.String(), strconv.Itoa(iteration), strconv.Itoa(slot), strconv.Itoa(attempt))
}

// Rollout is the id of one episode of an environment.
func Rollout(env uuid.UUID, arm string, seedIndex, repeat int) uuid.UUID {
	return derive("rollout", env.String(), arm, strconv.Itoa(seedIndex), strconv.Itoa(repeat))
}

// Group is the id of the episodes whose returns are compared: one arm of one env seed. A negative seedIndex means the
// whole arm.
func Group(env uuid.UUID, arm string, seedIndex int) uuid.UUID {
	return derive("group", env.String(), arm, strconv.Itoa(seedIndex))
}

// DesignGroup is the id of the designs of one iteration, whose pay is compared.
func DesignGroup(run uuid.UUID, iteration int) uuid.UUID {
	return derive("design-group", run.String(), strconv.Itoa(iteration))
}

// Batch is the id of one role's training batch of an iteration.
func Batch(run uuid.UUID, iteration int, role string) uuid.UUID {
	return derive("batch", run.String(), strconv.Itoa(iteration), role)
}

// Evaluation is the id of one episode of a held-out task at one policy version.
func Evaluation(run uuid.UUID, version int64, suite, task string, seedIndex int) uuid.UUID {
	return derive("evaluation", run.String(), strconv.FormatInt(version, 10), suite, task, strconv.Itoa(seedIndex))
}

// Document is the id of a document, or of one chunk of it, by the SHA-256 of its title, a line feed and its text.
func Document(sha256 []byte) uuid.UUID { return derive("document", hex.EncodeToString(sha256)) }

// Point is the id of something in a vector collection, by what it is and its own id.
func Point(kind string, id uuid.UUID) uuid.UUID { return derive("point", kind, id.String()) }

// Policy is the subject id of a run's policy update away from a version.
func Policy(run uuid.UUID, from int64) uuid.UUID {
	return derive("policy", run.String(), strconv.FormatInt(from, 10))
}

// Iteration is the subject id of one iteration of a run.
func Iteration(run uuid.UUID, iteration int) uuid.UUID {
	return derive("iteration", run.String(), strconv.Itoa(iteration))
}

// Event is the id of an event: its type, what it is about, and which attempt at saying so it is (0 unless the type
// counts attempts of its own).
func Event(ceType string, subject uuid.UUID, attempt int) uuid.UUID {
	return derive("event", ceType, subject.String(), strconv.Itoa(attempt))
}
