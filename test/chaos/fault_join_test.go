//go:build linux

package chaos

import "time"

// joinAndLeave starts one more process of a role, and asks it to end after a while.
func joinAndLeave(w *world) {
	like := w.pick(w.slots)
	s := w.addSlot(like.place)
	w.log.add("%s joins", s.name)
	time.Sleep(w.between(time.Second, 5*time.Second))
	w.log.add("%s is asked to end", s.name)
	if !s.stop(stopTimeout) {
		w.problem("%s does not end within %s of being asked to", s.name, stopTimeout)
	}
	w.log.add("%s has left", s.name)
	w.slots = w.slots[:len(w.slots)-1]
}
