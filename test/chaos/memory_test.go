//go:build linux

package chaos

import (
	"context"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/vector"
)

// environments is the collection of the environment memory.
func environments() string {
	e := embedding.NewBuiltin()
	return vector.Collection{Kind: "environments", Model: e.Model(), Dim: e.Dim()}.Name()
}

// vectors is a connection of the test's own to the memory.
func (w *world) vectors() *vector.Client {
	c, err := vector.New(w.servers.vectors(), vector.Settings{})
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

// remembered counts the points of the memory by environment and run.
func remembered(ctx context.Context, c *vector.Client) (map[[2]uuid.UUID]int, error) {
	out := map[[2]uuid.UUID]int{}
	err := c.Scroll(ctx, environments(), vector.Condition{}, func(h vector.Hit) error {
		env, _ := h.Payload["env_id"].(string)
		run, _ := h.Payload["run_id"].(string)
		e, errEnv := uuid.Parse(env)
		r, errRun := uuid.Parse(run)
		if errEnv == nil && errRun == nil {
			out[[2]uuid.UUID{e, r}]++
		}
		return nil
	})
	return out, err
}

// judgeMemory: the memory holds every accepted environment of the world's runs once, and no other of them.
func (w *world) judgeMemory(l *logged) {
	got, err := remembered(context.Background(), w.memory)
	if err != nil {
		w.problem("read the memory: %v", err)
		return
	}
	wrong, phantom := 0, 0
	for env, run := range l.wanted {
		if got[[2]uuid.UUID{env, run}] != 1 {
			wrong++
		}
	}
	for at := range got {
		if _, ours := l.digests[at[1]]; ours && l.wanted[at[0]] != at[1] {
			phantom++
		}
	}
	if wrong+phantom > 0 {
		w.problem("the memory holds %d of %d accepted environments not once, and %d that were not accepted", wrong, len(l.wanted), phantom)
	}
	w.log.add("the memory holds %d environments", len(got))
}
