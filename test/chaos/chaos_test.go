//go:build linux

package chaos

import (
	"testing"
	"time"
)

// Rounds of faults hit a running installation; afterwards everything is as if none had. SPADE_TEST_CHAOS_ROUNDS says how
// many, SPADE_TEST_CHAOS_SEED which.
func TestNothingIsLostOrDoubled(t *testing.T) {
	w := newWorld(t, readSettings(t, "chaos", "SPADE_TEST_CHAOS_ROUNDS"))
	w.begin()
	caused := map[string]int{}
	cards := &dealer{deck: w.possible(), random: w.random}
	for round := range w.set.rounds {
		w.ensureRun()
		time.Sleep(w.between(0, 2*time.Second))
		f := cards.deal()
		w.log.add("round %d of %d: %s", round+1, w.set.rounds, f.name)
		f.cause(w)
		caused[f.name]++
		w.ensureRun()
		w.goesOn()
	}
	w.end()
	w.judge()
	w.judgeReached(caused)
	w.table()
	w.report()
}

// begin starts the roles and those who watch.
func (w *world) begin() {
	w.ensureRun() // which makes the topics
	w.seen = newObserver(w.t, w)
	w.t.Cleanup(w.seen.stop)
	for _, p := range w.layout {
		w.addSlot(p)
	}
	w.t.Cleanup(w.empty)
	w.told = listen(w.slots)
	w.t.Cleanup(w.told.stop)
	w.append = newAppender(w.t, w)
	w.t.Cleanup(w.append.stop)
}

// place is a slot to be filled.
type place struct {
	role   string
	linked bool // reaches the servers through relays instead of holding a lease on the data folder
	asks   bool // asks the policy worker instead of a plugin of its own
}

// crew is the roles of a world for faults of all kinds: two of those where two get into each other's way.
func crew() []place {
	return []place{
		{role: "policy"},
		{role: "trainer"},
		{role: "trainer", linked: true},
		{role: "designer"},
		{role: "rollout"},
		{role: "rollout", linked: true, asks: true},
		{role: "scorer", linked: true},
		{role: "memory"},
		{role: "warehouse", linked: true},
		{role: "warehouse", linked: true},
	}
}

// end lets everything come to rest: the last run ends, the warehouse catches up, and the roles are asked to end.
func (w *world) end() {
	w.log.add("the faults are over")
	w.finish()
	w.append.stop()
	if err := w.settle(); err != nil {
		w.problem("%v", err)
	}
	w.log.add("the warehouse has caught up")
	w.empty()
	w.log.add("the roles have ended")
}

// empty asks all roles to end.
func (w *world) empty() {
	type result struct {
		name string
		ok   bool
	}
	results := make(chan result)
	for _, s := range w.slots {
		go func() { results <- result{s.name, s.stop(stopTimeout)} }()
	}
	for range w.slots {
		if r := <-results; !r.ok {
			w.problem("%s does not end within %s of being asked to", r.name, stopTimeout)
		}
	}
	w.slots = nil
}
