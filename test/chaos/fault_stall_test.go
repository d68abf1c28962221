//go:build linux

package chaos

import (
	"syscall"
	"time"
)

// sessions are the session timeouts of the consumer groups: of a process with a lease on the embedded broker, and of others.
const (
	leasedSession = 6 * time.Second
	linkedSession = 10 * time.Second
)

func (w *world) session(s *slot) time.Duration {
	if s.links == nil && w.servers.ownKafka {
		return leasedSession
	}
	return linkedSession
}

// stallRole stops a process for longer than its session lasts, and lets it go on: it wakes up in the middle of what it did,
// which others have taken over.
func stallRole(w *world) {
	s := w.pick(w.slots)
	if !s.signal(syscall.SIGSTOP) {
		w.log.add("%s is between two processes", s.name)
		return
	}
	w.log.add("stopped %s", s.name)
	time.Sleep(w.session(s) + w.between(time.Second, 3*time.Second))
	s.signal(syscall.SIGCONT)
	w.log.add("%s goes on", s.name)
}

func linked(w *world) string {
	if len(w.linkedSlots()) == 0 {
		return "no process reaches its servers through a relay: brokers that speak TLS cannot be relayed"
	}
	return ""
}

// halfOpen lets the connections of a process to a service go half-open, now and then also those that it opens anew, as when
// the network between them is cut.
func halfOpen(w *world) {
	s := w.pick(w.linkedSlots())
	used := s.links.used()
	if len(used) == 0 {
		w.log.add("%s holds no connections", s.name)
		return
	}
	service := used[w.random.IntN(len(used))]
	deaf := w.random.IntN(2) == 0
	n := 0
	for _, r := range s.links.to(service) {
		n += r.freeze(deaf)
	}
	w.log.add("%d connections of %s to %s are half-open, new ones too: %t", n, s.name, service, deaf)
	time.Sleep(w.between(2*time.Second, linkedSession+2*time.Second))
	for _, r := range s.links.to(service) {
		r.thaw()
	}
	w.log.add("the connections of %s are closed, new ones pass", s.name)
}
