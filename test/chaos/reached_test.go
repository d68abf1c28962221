//go:build linux

package chaos

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed256f7767/spade/internal/telemetry"
)

// What a chaos run must reach at least once, or its faults do not hit what they are for.
const (
	rebalanceInFlush = "a rebalance during a flush"
	dedupHit         = "an event that was left out because the warehouse had it"
	blockFound       = "a block whose answer was lost, and that was there"
	deadLetter       = "a dead letter"
	planRepeated     = "a plan that another writer repeated"
	pluginTraining   = "a plugin killed while it trained"
	writerFenced     = "a late writer that was refused"
)

// reachedBy is which fault has to reach what.
func reachedBy() map[string]string {
	return map[string]string{
		rebalanceInFlush: "rebalance in a flush", dedupHit: "", blockFound: "lost answer", deadLetter: "",
		planRepeated: "kill in a flush", pluginTraining: "kill plugin while it trains", writerFenced: "late write",
	}
}

// judgeReached fails the run when it missed something that a fault which was caused is for.
func (w *world) judgeReached(caused map[string]int) {
	w.mu.Lock()
	reached := maps.Clone(w.reached)
	w.mu.Unlock()
	// The warehouse has caught up, so whoever lost an answer has finished that range: having seen that the block was there, or the
	// oracle finds it twice.
	reached[blockFound], reached[writerFenced] = w.ledger.look()
	reached[dedupHit] = w.told.total(telemetry.WarehouseRepeats)
	reached[planRepeated] = w.told.total(telemetry.WarehouseRepaired)
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
