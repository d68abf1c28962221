//go:build linux

package chaos

import (
	"time"

	"github.com/seed256f7767/spade/test/processes"
)

func clocks(*world) string { return canJump }

// jumps are how far clocks are set forward or back.
func jumps() []time.Duration {
	return []time.Duration{time.Hour, -time.Hour, 26 * time.Hour, -26 * time.Hour, 400 * 24 * time.Hour, -400 * 24 * time.Hour}
}

// jumpClocks sets the wall clock of a role's process or of a server, for as long as that process lives.
func jumpClocks(w *world) {
	all := w.processes()
	targets := map[string]int{}
	var names []string
	add := func(name string, pid int) {
		if pid != 0 {
			targets[name] = pid
			names = append(names, name)
		}
	}
	for _, s := range w.slots {
		add(s.name, s.pid())
	}
	supervisor := all.Supervisor(w.data)
	add("the supervisor", supervisor)
	for _, pid := range all.Below(supervisor, processes.Clickhouse) {
		add("ClickHouse", pid)
	}
	for range 2 {
		name, by := names[w.random.IntN(len(names))], jumps()[w.random.IntN(len(jumps()))]
		err := jump(targets[name], by)
		w.log.add("the clock of %s jumps by %s (%v)", name, by, err)
	}
}
