//go:build linux

package chaos

import (
	"context"
	"syscall"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
)

// sinks are the slots that write the warehouse through a proxy.
func (w *world) sinks() []*slot { return w.linkedSlots("warehouse") }

func linkedSink(w *world) string {
	if len(w.sinks()) < 2 {
		return "no two processes write the warehouse through a proxy"
	}
	return ""
}

// springTimeout is how long the next write is waited for: there are always events on the way, but the sink may be recovering.
const springTimeout = 20 * time.Second

func block(s statement) bool { return s.token != "" }

func anyWrite(statement) bool { return true }

// loseAnswer has the server execute a write and cuts the connection before the answer.
func loseAnswer(w *world) {
	s, wants := w.pick(w.sinks()), block
	if w.random.IntN(4) == 0 {
		wants = anyWrite
	}
	for range 1 + w.random.IntN(2) {
		w.spring(s, wants, func(st statement, send func() answer) (answer, bool) {
			a := send()
			w.log.add("%s did not hear that the server took %.60q (status %d)", s.name, st.text, a.status)
			return a, false
		})
	}
}

// spring lays a trap and waits until it has done its work.
func (w *world) spring(s *slot, wants func(statement) bool, do func(statement, func() answer) (answer, bool)) bool {
	done := make(chan struct{})
	remove := s.links.warehouse.set(&trap{wants: wants, do: func(st statement, send func() answer) (answer, bool) {
		defer close(done)
		return do(st, send)
	}})
	select {
	case <-done:
		return true
	case <-time.After(springTimeout):
	}
	remove()
	w.log.add("%s wrote nothing", s.name)
	return false
}

// killInFlush kills a writer between a block and what comes after it: its plan has to be repeated by another one. A block
// that the server refuses is none.
func killInFlush(w *world) {
	s := w.pick(w.sinks())
	at, killed := time.Now(), false
	for tries := 0; tries < 5 && !killed; tries++ {
		w.spring(s, block, func(st statement, send func() answer) (answer, bool) {
			a := send()
			if !a.ok() {
				return a, true
			}
			at, killed = time.Now(), s.signal(syscall.SIGKILL)
			w.log.add("killed %s after the server took %s", s.name, st.token)
			return a, false
		})
	}
	if killed {
		w.measure(s.role, at)
	}
}

// rebalanceDuringFlush holds a block back while another writer joins the group.
func rebalanceDuringFlush(w *world) {
	s := w.pick(w.sinks())
	log := w.client(bus.Settings{})
	w.spring(s, block, func(st statement, send func() answer) (answer, bool) {
		before, err := log.Members(context.Background(), warehouseGroup)
		w.log.add("%s is held back with %s; the group has %d members (%v)", s.name, st.token, before, err)
		other := w.others(s)
		other.signal(syscall.SIGKILL) // and its keeper starts another one
		err = w.seen.await(15*time.Second, func() bool {
			now, err := log.Members(context.Background(), warehouseGroup)
			return err == nil && now != before
		})
		if err == nil {
			w.reach(rebalanceInFlush)
			w.log.add("the group rebalances while the block is on its way")
		}
		return send(), true
	})
}

// warehouseGroup is the consumer group of the sink.
const warehouseGroup = "spade.warehouse"

// others is another sink than one.
func (w *world) others(s *slot) *slot {
	for {
		if o := w.pick(w.sinks()); o != s {
			return o
		}
	}
}

// lateWrite holds a block back, stops its writer until the group has given its partitions away, and lets the block go on to
// the server: it must be refused.
func lateWrite(w *world) {
	s := w.pick(w.sinks())
	w.spring(s, block, func(st statement, send func() answer) (answer, bool) {
		if !s.signal(syscall.SIGSTOP) {
			return send(), true
		}
		w.log.add("stopped %s while %s is on its way", s.name, st.token)
		time.Sleep(linkedSession + 3*time.Second)
		a := send()
		w.log.add("the server answered the late block with status %d, code %s", a.status, a.code)
		s.signal(syscall.SIGCONT)
		return a, true
	})
}

// refuseRows answers the writes of a process with the server's error for a full disk.
func refuseRows(w *world) {
	s := w.pick(w.sinks())
	until := time.Now().Add(w.between(2*time.Second, 8*time.Second))
	n := 0
	for time.Now().Before(until) {
		w.spring(s, anyWrite, func(statement, func() answer) (answer, bool) { n++; return diskFull(), true })
	}
	w.log.add("%d writes of %s found no room", n, s.name)
}
