package telemetry

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
)

// Times of the health checks.
const (
	// pollEvery is how often the log is asked.
	pollEvery = 5 * time.Second
	// silence is after how long without an answer from the log a process is not ready.
	silence = 20 * time.Second
	// joining is how long a rebalance may take before a process counts as not ready.
	joining = 20 * time.Second
	// Stuck is after how long without any progress, while there are records to process, a process is to be restarted.
	Stuck = 10 * time.Minute
)

// health is what is known of how a process is. Times are passed in, so that it needs no clock.
type health struct {
	mu       sync.Mutex // guards the following
	watching bool       // there is a log to ask
	draining bool
	joining  bool      // it joins a group before it does anything else
	answered time.Time // when the log last answered; zero: never
	groups   []bus.Group
	looked   time.Time            // when groups was read
	joined   map[string]time.Time // when a group was last seen joined, or first seen
	waits    map[spot]wait        // places with records that nobody has taken
	activity float64
	active   time.Time // when activity last changed
}

// spot is where a group reads.
type spot struct {
	group, topic string
	partition    int32
}

// wait is how long a place has stood with records before it.
type wait struct {
	moved time.Time // when the place last moved
	since time.Time // when it was first seen to wait since
}

// saw takes what a look at the log and at the counters brought.
func (h *health) saw(now time.Time, groups []bus.Group, err error, activity float64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.groups, h.looked = groups, now
	if err == nil {
		h.answered = now
	}
	if activity != h.activity || h.active.IsZero() {
		h.activity, h.active = activity, now
	}
	h.waits = waiting(now, groups, h.waits)
	seen := map[string]time.Time{}
	for _, g := range groups {
		at, known := h.joined[g.Name]
		switch {
		case g.Joined:
			at = now
		case !known:
			at = now.Add(-joining) // it has yet to join
		}
		seen[g.Name] = at
	}
	h.joined = seen
}

// waiting are the places that have records before them and no call under way. One that has moved waits anew.
func waiting(now time.Time, groups []bus.Group, before map[spot]wait) map[spot]wait {
	waits := map[spot]wait{}
	for _, g := range groups {
		busy := map[int32]bool{} // of a partition's topics one is processed at a time
		for _, p := range g.Places {
			busy[p.Partition] = busy[p.Partition] || !p.Busy.IsZero()
		}
		for _, p := range g.Places {
			at := spot{g.Name, p.Topic, p.Partition}
			if p.Next >= p.End || busy[p.Partition] {
				continue
			}
			w, known := before[at]
			if !known || !w.moved.Equal(p.Moved) {
				w = wait{p.Moved, now}
			}
			waits[at] = w
		}
	}
	return waits
}

func (h *health) watch() { h.set(func() { h.watching = true }) }
func (h *health) drain() { h.set(func() { h.draining = true }) }
func (h *health) joins() { h.set(func() { h.joining = true }) }

func (h *health) set(fn func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	fn()
}

// up reports whether the log answered lately.
func (h *health) up(now time.Time) bool {
	return !h.answered.IsZero() && now.Sub(h.answered) < silence
}

// notReady says why a process should not be sent work; nothing when it should.
func (h *health) notReady(now time.Time) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var why []string
	if h.draining {
		why = append(why, "draining")
	}
	switch {
	case !h.watching || h.answered.IsZero():
		return append(why, "starting")
	case !h.up(now):
		why = append(why, fmt.Sprintf("the log has not answered for %d s", int(now.Sub(h.answered).Seconds())))
	}
	if h.joining && len(h.groups) == 0 {
		why = append(why, "no group is joined yet")
	}
	for _, g := range h.groups {
		if !g.Joined && now.Sub(h.joined[g.Name]) >= joining {
			why = append(why, "group "+g.Name+" is not joined")
		}
	}
	return why
}

// notLive says why a process should be restarted; nothing when it should not. A log that does not answer is no reason: a
// restart would not bring it back.
func (h *health) notLive(now time.Time) []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.draining || !h.up(now) {
		return nil
	}
	var why []string
	for _, g := range h.groups {
		if roleOf(g.Name) == electing {
			continue // its members hold an office, they process nothing
		}
		for _, p := range g.Places {
			if reason := h.stuck(g.Name, p, now); reason != "" {
				why = append(why, fmt.Sprintf("group %s, %s/%d: %s", g.Name, p.Topic, p.Partition, reason))
			}
		}
	}
	return why
}

// stuck says what a place has been waiting for too long, whatever the others do. A call may be long where work gets on in it.
// Records that were taken and wait for others, as an episode waits for the rest of its group, are no reason.
func (h *health) stuck(group string, p bus.Place, now time.Time) string {
	if !p.Busy.IsZero() {
		if now.Sub(p.Busy) >= Stuck && now.Sub(h.active) >= Stuck {
			return fmt.Sprintf("a call has not come back for %d s", int(now.Sub(p.Busy).Seconds()))
		}
		return ""
	}
	w, waits := h.waits[spot{group, p.Topic, p.Partition}]
	if waited := min(now.Sub(w.since), now.Sub(p.Moved)); waits && waited >= Stuck {
		return fmt.Sprintf("%d records are there and none was taken for %d s", p.End-p.Next, int(waited.Seconds()))
	}
	return ""
}

// electing is the role whose groups elect the leader of a run.
const electing = "trainer"

// roleOf is the role of a consumer group, spade.ROLE or spade.ROLE.SOMETHING. Its values are few: groups that are not the
// program's own are one.
func roleOf(group string) string {
	rest, own := strings.CutPrefix(group, "spade.")
	role, _, _ := strings.Cut(rest, ".")
	switch role {
	case "designer", "rollout", "scorer", "trainer", "memory", "warehouse", "policy":
		if own {
			return role
		}
	}
	return "other"
}
