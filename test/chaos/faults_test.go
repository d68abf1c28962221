//go:build linux

package chaos

import (
	"math/rand/v2"
	"time"
)

// fault is one way to break the world.
type fault struct {
	name string
	// needs says why the fault cannot be caused in this world; empty: it can.
	needs func(w *world) string
	// cause returns when the fault is over.
	cause func(w *world)
}

// faults is every fault. Each lies in the file of its kind.
func faults() []fault {
	return []fault{
		{"kill a role", always, killRole},
		{"kill the servers", ownServersOrHook, killServers},
		{"kill clickhouse", ownClickHouse, killClickHouse},
		{"kill a plugin", always, killPlugin},
		{"kill plugin while it trains", always, killPluginTraining},
		{"kill a sandbox", always, killSandbox},
		{"stall a role", always, stallRole},
		{"half-open connections", linked, halfOpen},
		{"lost answer", linkedSink, loseAnswer},
		{"kill in a flush", linkedSink, killInFlush},
		{"rebalance in a flush", linkedSink, rebalanceDuringFlush},
		{"late write", linkedSink, lateWrite},
		{"disk full", smallDisk, fillDisk},
		{"no room for rows", linkedSink, refuseRows},
		{"clock jump", clocks, jumpClocks},
		{"a worker joins and leaves", always, joinAndLeave},
	}
}

func always(*world) string { return "" }

// possible are the faults that this world allows; the others are named.
func (w *world) possible() (deck []fault) {
	for _, f := range faults() {
		if !w.set.wants(f.name) {
			continue
		}
		if why := f.needs(w); why != "" {
			w.log.add("left out: %s: %s", f.name, why)
			continue
		}
		deck = append(deck, f)
	}
	return deck
}

// dealer hands out faults from a shuffled deck, and shuffles it again when it is used up.
type dealer struct {
	deck   []fault
	next   int
	random *rand.Rand
}

func (d *dealer) deal() fault {
	if d.next == 0 {
		d.random.Shuffle(len(d.deck), func(i, j int) { d.deck[i], d.deck[j] = d.deck[j], d.deck[i] })
	}
	f := d.deck[d.next]
	d.next = (d.next + 1) % len(d.deck)
	return f
}

// between draws a duration.
func (w *world) between(low, high time.Duration) time.Duration {
	return low + time.Duration(w.random.Int64N(int64(high-low)))
}

// pick draws a slot.
func (w *world) pick(from []*slot) *slot { return from[w.random.IntN(len(from))] }

// linkedSlots are the slots that reach the servers through relays, of the roles given or of all.
func (w *world) linkedSlots(roles ...string) (out []*slot) {
	for _, s := range w.slots {
		if s.links != nil && (len(roles) == 0 || contains(roles, s.role)) {
			out = append(out, s)
		}
	}
	return out
}

// roleSlots are the slots of the roles.
func (w *world) roleSlots(roles ...string) (out []*slot) {
	for _, s := range w.slots {
		if contains(roles, s.role) {
			out = append(out, s)
		}
	}
	return out
}

func contains(all []string, one string) bool {
	for _, s := range all {
		if s == one {
			return true
		}
	}
	return false
}
