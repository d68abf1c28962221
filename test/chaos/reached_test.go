//go:build linux

package chaos

import (
	"maps"
	"slices"
	"strings"
)

// What a chaos run must reach at least once, or its faults do not hit what they are for.
const (
	rebalanceInFlush = "a rebalance during a flush"
	dedupHit         = "a block that the server dropped as a duplicate"
	deadLetter       = "a dead letter"
	planRepeated     = "a plan that another writer repeated"
	pluginTraining   = "a plugin killed while it trained"
	writerFenced     = "a late writer that was refused"
)

// reachedBy is which fault has to reach what.
func reachedBy() map[string]string {
	return map[string]string{
		rebalanceInFlush: "rebalance in a flush", dedupHit: "lost answer", deadLetter: "", planRepeated: "kill in a flush",
		pluginTraining: "kill plugin while it trains", writerFenced: "late write",
	}
}

// judgeReached fails the run when it missed something that a fault which was caused is for.
func (w *world) judgeReached(caused map[string]int) {
	same, other := w.ledger.repeats()
	w.mu.Lock()
	reached := maps.Clone(w.reached)
	w.mu.Unlock()
	reached[dedupHit], reached[planRepeated], reached[writerFenced] = same, other, w.ledger.refused()
	for _, what := range slices.Sorted(maps.Keys(reachedBy())) {
		by := reachedBy()[what]
		w.log.add("reached %d times: %s", reached[what], what)
		if reached[what] == 0 && (by == "" && w.set.rounds >= 10 || caused[by] > 0) {
			w.problem("%s was not reached, which the fault %q is for", what, by)
		}
	}
}

// lines counts the lines of the slots' logs that hold a text.
func (s *slot) lines(text string) int { return strings.Count(string(s.whole()), text) }
