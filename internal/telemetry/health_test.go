package telemetry

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
)

// clock is a wall clock that the test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func TestReadiness(t *testing.T) {
	c := &clock{time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	h := &health{}
	ready := func(what string, want ...string) {
		t.Helper()
		got := h.notReady(c.now)
		ok := len(got) == len(want)
		for i := range min(len(got), len(want)) {
			ok = ok && strings.Contains(got[i], want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	ready("before the log is known", "starting")
	h.watch()
	ready("before the log has answered", "starting")
	h.saw(c.now, nil, nil, 0)
	ready("who works on runs as they come, and there is none")
	h.joins()
	ready("who cannot join before its store answers", "no group is joined")
	g := bus.Group{Name: "spade.rollout.r"}
	h.saw(c.now, []bus.Group{g}, nil, 0)
	ready("a group that has yet to join", "is not joined")
	g.Joined = true
	h.saw(c.now, []bus.Group{g}, nil, 0)
	ready("joined, without a partition: standing by")
	g.Joined = false
	c.now = c.now.Add(pollEvery)
	h.saw(c.now, []bus.Group{g}, nil, 0)
	ready("a rebalance that has just begun")
	c.now = c.now.Add(joining)
	h.saw(c.now, []bus.Group{g}, nil, 0)
	ready("a rebalance that does not end", "is not joined")
	g.Joined = true
	h.saw(c.now, []bus.Group{g}, nil, 0)
	c.now = c.now.Add(pollEvery)
	h.saw(c.now, []bus.Group{g}, errors.New("down"), 0)
	ready("one question without an answer")
	c.now = c.now.Add(silence)
	h.saw(c.now, []bus.Group{g}, errors.New("down"), 0)
	ready("a log that is down", "has not answered")
	h.saw(c.now, []bus.Group{g}, nil, 0)
	ready("a log that is back")
	h.drain()
	ready("draining", "draining")
}

func TestLiveness(t *testing.T) {
	start := time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	later := start.Add(Stuck + time.Second)
	waiting := bus.Place{Topic: "t", Next: 3, Committed: 3, End: 5, Moved: start}
	busy := bus.Place{Topic: "t", Next: 5, Committed: 3, End: 5, Moved: start, Busy: start}
	grouped := bus.Place{Topic: "t", Next: 5, Committed: 3, End: 5, Moved: start} // waits for the rest of an open group
	for name, tc := range map[string]struct {
		group string
		place bus.Place
		moved []string // counters that grew meanwhile
		err   error
		drain bool
		live  bool
	}{
		"records that nobody takes":                {group: "spade.rollout.r", place: waiting},
		"records left behind where others are not": {group: "spade.rollout.r", place: waiting, moved: []string{LogCommits}},
		"a call that does not come back":           {group: "spade.rollout.r", place: busy},
		"nothing to do":                            {group: "spade.rollout.r", place: bus.Place{Topic: "t", Next: 5, Committed: 5, End: 5, Moved: start}, live: true},
		"taken records that wait for others":       {group: "spade.scorer.r", place: grouped, live: true},
		"a call where all else is trying":          {group: "spade.rollout.r", place: busy, moved: idle()},
		"a long call in a process that works":      {group: "spade.rollout.r", place: busy, moved: []string{LogCommits}, live: true},
		"a long call in a process that appends":    {group: "spade.rollout.r", place: busy, moved: []string{LogRetries, LogAppended}, live: true},
		"an office is not work":                    {group: "spade.trainer.r", place: waiting, live: true},
		"a log that is down":                       {group: "spade.rollout.r", place: waiting, err: errors.New("down"), live: true},
		"draining ends by its own deadline":        {group: "spade.rollout.r", place: busy, drain: true, live: true},
		"taken lately":                             {group: "spade.rollout.r", place: bus.Place{Topic: "t", Next: 3, End: 5, Moved: later.Add(-time.Second)}, live: true},
		"a call that has just begun":               {group: "spade.rollout.r", place: bus.Place{Topic: "t", Next: 5, End: 5, Moved: start, Busy: later}, live: true},
		"a group of another program's makings":     {group: "somebody.else", place: waiting},
	} {
		t.Run(name, func(t *testing.T) {
			h := &health{}
			h.watch()
			groups := []bus.Group{{Name: tc.group, Joined: true, Places: []bus.Place{tc.place}}}
			h.saw(start, groups, nil, 0)
			h.saw(later, groups, tc.err, moved(tc.moved))
			if tc.drain {
				h.drain()
			}
			if why := h.notLive(later); (len(why) == 0) != tc.live {
				t.Errorf("not live because of %q, want live %v", why, tc.live)
			}
		})
	}
}

// moved is the activity of a process in which nothing but these counters has grown.
func moved(names []string) float64 {
	r := newRegistry()
	r.add(func(s Sample) {
		for _, name := range names {
			s.Value(name, 1, make([]string, len(r.metrics[name].Labels))...)
		}
	})
	return r.sample().activity()
}

// TestAProcessThatOnlyTriesIsStuck: what a stuck process counts is no sign of life, and records that come after a long rest
// are given their time.
func TestAProcessThatOnlyTriesIsStuck(t *testing.T) {
	c := &clock{time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)}
	p := New(Config{}, Settings{})
	p.now = c.Now
	place := bus.Place{Topic: "t", Next: 5, Committed: 5, End: 5, Moved: c.now}
	log := &fakeLog{groups: []bus.Group{{Name: "spade.rollout.r", Joined: true, Places: []bus.Place{place}}}}
	p.Add(logSampler(log))
	p.health.watch()
	look := func(what string, stuck bool) {
		t.Helper()
		log.stats.Stalls++
		log.stats.Retries++
		log.stats.Fetched++
		log.stats.FetchedBytes += 100
		log.stats.Rebalances++
		p.look(t.Context(), log)
		if why := p.health.notLive(c.now); (len(why) > 0) != stuck {
			t.Errorf("%s: not live because of %q", what, why)
		}
	}
	at := &log.groups[0].Places[0]
	look("at rest", false)
	c.now = c.now.Add(2 * Stuck)
	at.End = 7
	look("records have just come", false)
	c.now = c.now.Add(Stuck)
	look("nobody takes them", true)
	at.Next, at.Moved = 6, c.now
	look("one is taken", false)
	at.Next, at.Busy = 7, c.now
	c.now = c.now.Add(Stuck)
	look("its call does not come back", true)
}

func TestTheEndpointsFollowTheLog(t *testing.T) {
	log := &fakeLog{groups: []bus.Group{{Name: "spade.memory.x", Joined: true}}}
	p := serve(t, nil)
	if body := get(t, p, "/readyz", http.StatusServiceUnavailable); body != "starting\n" {
		t.Errorf("%q", body)
	}
	get(t, p, "/livez", http.StatusOK)
	p.look(t.Context(), log)
	p.health.watch()
	if body := get(t, p, "/readyz", http.StatusOK); body != "ready\n" {
		t.Errorf("%q", body)
	}
	p.Drain()
	if body := get(t, p, "/readyz", http.StatusServiceUnavailable); body != "draining\n" {
		t.Errorf("%q", body)
	}
	get(t, p, "/", http.StatusNotFound)
	if !strings.Contains(text(t, p), "\nspade_draining 1\n") {
		t.Error("draining is not told")
	}
}

func TestALifeOfWatching(t *testing.T) {
	var none *Process
	none.Add(nil)
	none.Drain()
	none.Watch(&fakeLog{})
	none.Appended(nil)
	none.Generated("agent", time.Now(), nil)
	none.PluginRestarted()
	if err := errors.Join(none.Start(t.Context()), none.Shutdown(t.Context())); err != nil {
		t.Error(err)
	}
	p := New(Config{Listen: "127.0.0.1:0"}, Settings{})
	if err := p.Shutdown(t.Context()); err != nil {
		t.Errorf("shutdown without start: %v", err)
	}
	p = serve(t, nil)
	p.Watch(&fakeLog{})
	p.Unwatch()
	for range 2 {
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
	taken := New(Config{Listen: "256.0.0.1:1"}, Settings{})
	if err := taken.Start(t.Context()); err == nil {
		t.Error("an address that is none was listened on")
	}
}
