package gym

import (
	"maps"
	"sync"
)

// Meter counts what pools do. Several pools may share one: it outlives them. The zero value is ready; nil counts nothing. It
// may be used concurrently.
type Meter struct {
	mu sync.Mutex // guards the following
	s  Stats
}

// Stats is what a Meter holds at one moment.
type Stats struct {
	Slots   int            // workers that the open pools allow at a time
	Waiting int            // callers of Open that wait for a slot
	Open    map[string]int // workers in use, by runtime
	// The following only grow.
	Started map[string]int64 // processes that were given a source, by runtime
	Failed  map[string]int64 // processes that did not come up, by runtime
	Killed  map[Death]int64  // processes that died or were ended before they were closed
}

// Death is of what a process of a runtime died.
type Death struct {
	Runtime string
	Cause   Cause
}

// Stats returns what was counted until now.
func (m *Meter) Stats() Stats {
	if m == nil {
		return Stats{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.s
	s.Open, s.Started, s.Failed, s.Killed = maps.Clone(s.Open), maps.Clone(s.Started), maps.Clone(s.Failed), maps.Clone(s.Killed)
	return s
}

func (m *Meter) note(fn func(s *Stats)) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.s.Open == nil {
		m.s.Open, m.s.Started, m.s.Failed, m.s.Killed = map[string]int{}, map[string]int64{}, map[string]int64{}, map[Death]int64{}
	}
	fn(&m.s)
}

func (m *Meter) slots(n int)          { m.note(func(s *Stats) { s.Slots += n }) }
func (m *Meter) wait(n int)           { m.note(func(s *Stats) { s.Waiting += n }) }
func (m *Meter) use(rt string, n int) { m.note(func(s *Stats) { s.Open[rt] += n }) }
func (m *Meter) started(rt string)    { m.note(func(s *Stats) { s.Started[rt]++ }) }
func (m *Meter) failed(rt string)     { m.note(func(s *Stats) { s.Failed[rt]++ }) }
func (m *Meter) died(rt string, d *deathError) {
	m.note(func(s *Stats) { s.Killed[Death{rt, d.cause}]++ })
}
