//go:build linux

package chaos

import (
	"context"
	"strings"
	"syscall"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/tables"
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

// write is a write that a trap has caught, and who sent it.
type write struct {
	statement
	by *slot
}

// caught lays a trap for one of the sinks after the other until one writes what is wanted.
func (w *world) caught(wants func(statement) bool, do func(c write, send func() answer) (answer, bool)) bool {
	for range 4 {
		s := w.pick(w.sinks())
		if w.spring(s, wants, func(st statement, send func() answer) (answer, bool) { return do(write{st, s}, send) }) {
			return true
		}
	}
	return false
}

// spring lays a trap for a slot and waits until it has done its work.
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
	if remove() {
		w.log.add("%s wrote nothing", s.name)
		return false
	}
	<-done // it was sprung at the last moment
	return true
}

// loseAnswer has the server execute a block, and then now and then any other write, and cuts the connection before the answer.
func loseAnswer(w *world) {
	wants := []func(statement) bool{block}
	if w.random.IntN(2) == 0 {
		wants = append(wants, anyWrite)
	}
	for _, want := range wants {
		for tries, lost := 0, false; tries < 10 && !lost; tries++ {
			sprung := w.caught(want, func(c write, send func() answer) (answer, bool) {
				a := send()
				if lost = a.ok(); !lost {
					return a, true
				}
				if c.token != "" {
					w.ledger.lose()
				}
				w.log.add("%s did not hear that the server took %.60q", c.by.name, c.text)
				return a, false
			})
			if !sprung {
				return
			}
		}
	}
}

// killInFlush kills a writer between a block and what comes after it: its plan has to be repeated by another one. A block
// that the server refuses is none.
func killInFlush(w *world) {
	at, role := time.Now(), ""
	for tries := 0; tries < 5 && role == ""; tries++ {
		w.caught(block, func(c write, send func() answer) (answer, bool) {
			a := send()
			if !a.ok() {
				return a, true
			}
			if c.by.signal(syscall.SIGKILL) {
				at, role = time.Now(), c.by.role
			}
			w.log.add("killed %s after the server took %s", c.by.name, c.token)
			return a, false
		})
	}
	if role != "" {
		w.measure(role, at)
	}
}

// rebalanceDuringFlush holds a block back while another writer is killed and joins the group again.
func rebalanceDuringFlush(w *world) {
	log := w.client(bus.Settings{})
	w.caught(block, func(c write, send func() answer) (answer, bool) {
		before, err := log.Members(context.Background(), warehouseGroup)
		w.log.add("%s is held back with %s; the group has %d members (%v)", c.by.name, c.token, before, err)
		w.others(c.by).signal(syscall.SIGKILL) // and its keeper starts another one
		err = w.seen.await(30*time.Second, func() bool {
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

// lateWrite holds a block back, stops its writer until another one has claimed the partition, and lets the block go on to the
// server: it must be refused.
func lateWrite(w *world) {
	w.caught(block, func(c write, send func() answer) (answer, bool) {
		before, err := w.claim(c.token)
		if err != nil || !c.by.signal(syscall.SIGSTOP) {
			return send(), true
		}
		w.log.add("stopped %s while %s is on its way", c.by.name, c.token)
		err = w.seen.await(linkedSession+40*time.Second, func() bool {
			now, err := w.claim(c.token)
			return err == nil && now != before
		})
		a := send()
		if err == nil && a.code != throwIf {
			w.problem("the server answered a block whose partition another writer has claimed with status %d, code %s", a.status, a.code)
		}
		w.log.add("the server answered the late block with status %d, code %s (%v)", a.status, a.code, err)
		c.by.signal(syscall.SIGCONT)
		return a, true
	})
}

// claim is the token of the writer that holds the partition of a block, whose own token is table:topic:partition:first-last.
func (w *world) claim(token string) (writer uint64, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	parts := strings.Split(token, ":")
	place := tables.Quote(parts[1] + ":" + parts[2])
	err = w.sql.QueryRow(ctx, "SELECT joinGet('spade._claims', 'writer', "+place+")").Scan(&writer)
	return writer, err
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
