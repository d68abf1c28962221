//go:build linux

package chaos

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/vector"
)

// marks are the kinds of events that say that a role works.
func marks() map[string][]string {
	episodes := []string{"RolloutCompleted", "RolloutDropped"}
	return map[string][]string{
		"designer": {"EnvironmentDesigned"}, "rollout": episodes, "scorer": {"RegretEstimated", "RegretUnavailable"},
		"trainer": {"DesignRequested", "PolicyUpdated", "IterationClosed"},
		"plugin":  episodes, "sandbox": episodes, "policy": episodes,
	}
}

// goesOnTimeout is how long a world may take to work again after a fault.
const goesOnTimeout = 90 * time.Second

// onTheWay is how long what a process did before it was gone may take to be seen.
const onTheWay = 150 * time.Millisecond

// measure waits until the work of what was killed at a moment, and is gone now, goes on, and notes how long it took.
func (w *world) measure(role string, at time.Time) {
	run := w.run()
	time.Sleep(onTheWay)
	after := time.Now()
	works := w.works(role, run, after)
	ended := func() bool { return ofRun(role) && w.seen.isFinished(run) }
	if err := w.seen.await(goesOnTimeout, func() bool { return works() || ended() }); err != nil {
		w.problem("%s does not work again: %v", role, err)
		return
	}
	took := time.Since(at)
	w.mu.Lock()
	defer w.mu.Unlock()
	if ended() {
		w.log.add("the run ended: nothing was left to do for %s", role)
		w.idle++
		return
	}
	w.log.add("%s works again after %.1fs", role, took.Seconds())
	w.recovery[role] = append(w.recovery[role], took)
}

// ofRun reports whether a role has nothing to do once a run is over.
func ofRun(role string) bool {
	return role != "warehouse" && role != "clickhouse" && role != "supervisor"
}

// works makes what tells whether the role has worked since a moment, which is now.
func (w *world) works(role string, run uuid.UUID, now time.Time) func() bool {
	switch role {
	case "warehouse", "clickhouse":
		_, _ = w.written() // while it does not answer what it said last counts
		before := w.lastWritten
		return func() bool { n, err := w.written(); return err == nil && n > before }
	case "memory":
		before, _ := w.recalled() // 0 while it does not answer
		return func() bool { n, err := w.recalled(); return err == nil && n > before }
	case "supervisor":
		return func() bool { return w.append.acknowledges(now) }
	}
	return func() bool { _, ok := w.seen.since(run, now, marks()[role]); return ok }
}

// written is how far the warehouse is, summed over all partitions.
func (w *world) written() (n int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err = w.sql.QueryRow(ctx, "SELECT sum(n) FROM (SELECT max(next_offset) AS n FROM spade._offsets GROUP BY topic_id, partition)").Scan(&n)
	if err == nil {
		w.lastWritten = n
	}
	return n, err
}

// recalled is how many points the memory has.
func (w *world) recalled() (n int64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	return w.memory.Count(ctx, environments(), vector.Condition{})
}

// goesOn waits until the log of the run grows.
func (w *world) goesOn() {
	at, run := time.Now(), w.run()
	err := w.seen.await(goesOnTimeout, func() bool {
		_, ok := w.seen.since(run, at, nil)
		return ok || w.seen.isFinished(run)
	})
	if err != nil {
		w.problem("the run does not go on: %v", err)
	}
}

// table prints how long roles took to work again.
func (w *world) table() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, role := range slices.Sorted(maps.Keys(w.recovery)) {
		took := slices.Sorted(slices.Values(w.recovery[role]))
		w.t.Logf("recovery after SIGKILL of %-10s %3d kills, median %.1fs, longest %.1fs",
			role, len(took), took[len(took)/2].Seconds(), took[len(took)-1].Seconds())
	}
	w.t.Logf("not timed: %d kills at the end of a run, which left the role nothing to do", w.idle)
}
