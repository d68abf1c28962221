package bustest

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/access"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// CheckRoles tries everything as every role on a cluster without topics whose ACLs are those of package access: each gets
// what it needs, and is refused the rest by an error that says what it is. all is a client that may do everything, as opens
// one of a role's user.
func CheckRoles(t *testing.T, all *bus.Client, as func(t *testing.T, role string) *bus.Client) {
	t.Helper()
	every := topics.All(2)
	err := as(t, "rollout").EnsureTopics(t.Context(), every)
	checkAllowed(t, "make the topics", false, topics.Runs, err)
	checkAllowed(t, "make the topics", true, topics.Runs, as(t, "operator").EnsureTopics(t.Context(), every))
	for _, of := range every {
		checkAllowed(t, "write", true, of.Name, all.Append(t.Context(), someEvent(of.Name)))
	}
	for _, r := range access.Roles() {
		t.Run(r.Name, func(t *testing.T) { checkRole(t, r, as(t, r.Name), every) })
	}
}

func checkRole(t *testing.T, r access.Role, c *bus.Client, every []topics.Topic) {
	t.Helper()
	checkAllowed(t, "look at the topics", true, "", c.EnsureTopics(t.Context(), every)) // every process does, when it starts
	for _, of := range every {
		checkAllowed(t, "write "+of.Name, slices.Contains(r.Writes, of.Name), of.Name, c.Append(t.Context(), someEvent(of.Name)))
		err := c.Read(t.Context(), of.Name, nil, nil, func(event.Event) error { return nil })
		checkAllowed(t, "read "+of.Name, slices.Contains(r.Reads, of.Name), of.Name, err)
	}
	for _, name := range []string{
		"spade.designer.x", "spade.rollout.x", "spade.scorer.x", "spade.trainer.x", "spade.memory.x", "spade.warehouse", "other",
	} {
		allowed := slices.ContainsFunc(r.Groups, func(begin string) bool { return strings.HasPrefix(name, begin) })
		checkAllowed(t, "join "+name, allowed, name, join(t, c, name, r.Reads[0]))
		_, err := c.Members(t.Context(), name)
		watched := allowed || slices.ContainsFunc(r.Watches, func(begin string) bool { return strings.HasPrefix(name, begin) })
		checkAllowed(t, "look at "+name, watched, name, err)
	}
}

func someEvent(topic string) event.Event {
	return event.Event{Topic: topic, Key: "k", Type: "spade.v1.RolloutCompleted", ID: uuid.New(), Time: time.Now()}
}

// join joins a group until it has a partition.
func join(t *testing.T, c *bus.Client, name, topic string) error {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	return c.Consume(ctx, name, []string{topic}, nil, bus.HandlerFunc(func(context.Context, *bus.Claim) (bus.Processor, error) {
		cancel()
		return idler{}, nil
	}))
}

// idler does nothing.
type idler struct{}

func (idler) Process(context.Context, bus.Batch) error { return nil }
func (idler) Idle(context.Context) error               { return nil }
func (idler) Revoked(context.Context) error            { return nil }
func (idler) Lost()                                    {}

func checkAllowed(t *testing.T, what string, allowed bool, name string, err error) {
	t.Helper()
	switch {
	case allowed && err != nil:
		t.Errorf("%s: %v", what, err)
	case !allowed && !errors.Is(err, bus.ErrNotAllowed):
		t.Errorf("%s: got %v, want a refusal", what, err)
	case !allowed && !strings.Contains(err.Error(), name):
		t.Errorf("%s: %q does not say where", what, err)
	}
}
