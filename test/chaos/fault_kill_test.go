//go:build linux

package chaos

import (
	"os/exec"
	"syscall"
	"time"

	"github.com/seed256f7767/spade/test/processes"
)

// killRole kills a process of a role.
func killRole(w *world) {
	w.killSlot(w.pick(w.slots))
}

// killSlot kills the process of a slot and measures how long it takes until its work goes on. A process that has only begun
// to start is killed as well, and not measured: it had no work.
func (w *world) killSlot(s *slot) {
	s.mu.Lock()
	young := time.Since(s.started) < time.Second
	s.mu.Unlock()
	pid := s.pid()
	if pid == 0 {
		w.log.add("%s is between two processes", s.name)
		return
	}
	at := w.kill(pid, s.name)
	if !young {
		w.measure(s.role, at)
	}
}

func ownServersOrHook(w *world) string {
	if !w.servers.ownKafka && w.set.broker == "" {
		return "the broker is not the world's own; SPADE_TEST_CHAOS_BROKER can name a command that kills and restarts it"
	}
	return ""
}

// killServers kills the broker: with the embedded one that is the supervisor, and all three servers with it.
func killServers(w *world) {
	if !w.servers.ownKafka {
		out, err := exec.Command("sh", "-c", w.set.broker).CombinedOutput()
		if err != nil {
			w.problem("restart the broker: %v\n%s", err, out)
		}
		w.log.add("the broker was killed and started again")
		return
	}
	pid := w.processes().Supervisor(w.data)
	if pid == 0 {
		w.log.add("there is no supervisor")
		return
	}
	w.measure("supervisor", w.kill(pid, "the supervisor"))
}

func ownClickHouse(w *world) string {
	if !w.servers.ownClickHouse {
		return "ClickHouse is not the world's own"
	}
	return ""
}

func killClickHouse(w *world) {
	all := w.processes()
	pids := all.Below(all.Supervisor(w.data), processes.Clickhouse)
	if len(pids) == 0 {
		w.log.add("there is no ClickHouse")
		return
	}
	_, _ = w.written() // what it holds now, for the measurement
	w.measure("clickhouse", w.kill(pids[0], "ClickHouse"))
}

func killPlugin(w *world) { w.killChild("plugin", processes.Plugin) }

func killSandbox(w *world) { w.killChild("sandbox", processes.Sandbox) }

// killChild kills a child of a process of a role. Sandboxes come and go, so it is looked for.
func (w *world) killChild(kind string, match func(processes.Process) bool) {
	for range 200 {
		all := w.processes()
		var pids []int
		for _, s := range w.slots {
			pids = append(pids, all.Below(s.pid(), match)...)
		}
		if len(pids) == 0 {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		w.measure(kind, w.kill(pids[w.random.IntN(len(pids))], "a "+kind))
		return
	}
	w.log.add("there is no %s", kind)
}

func (w *world) processes() processes.Set {
	all, err := processes.All()
	if err != nil {
		w.t.Fatal(err)
	}
	return all
}

// kill ends a process, waits until it is gone, which on a busy machine takes a while, and returns when it was killed.
func (w *world) kill(pid int, what string) time.Time {
	at := time.Now()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		w.log.add("%s (%d) is gone already", what, pid)
		return at
	}
	for processes.Alive(pid) {
		time.Sleep(time.Millisecond)
	}
	w.log.add("killed %s (%d)", what, pid)
	return at
}

// killPluginTraining stops the trainers' plugins until everything waits for the training, and kills them in it.
func killPluginTraining(w *world) {
	trainers := w.roleSlots("trainer")
	for range 8 {
		pids := w.pluginsOf(trainers)
		before := crashes(trainers)
		signalAll(pids, syscall.SIGSTOP)
		if len(pids) == 0 || !w.waitsForTraining(15*time.Second) {
			signalAll(pids, syscall.SIGCONT)
			w.ensureRun()
			w.goesOn()
			continue
		}
		signalAll(pids, syscall.SIGKILL)
		w.log.add("killed %d plugins while everything waited for the training", len(pids))
		if err := w.seen.await(20*time.Second, func() bool { return crashes(trainers) > before }); err == nil {
			w.reach(pluginTraining)
		}
		return
	}
	w.log.add("the training was never waited for")
}

func (w *world) pluginsOf(slots []*slot) (pids []int) {
	all := w.processes()
	for _, s := range slots {
		pids = append(pids, all.Below(s.pid(), processes.Plugin)...)
	}
	return pids
}

// signalAll reaches those of the processes that are still there.
func signalAll(pids []int, sig syscall.Signal) {
	for _, pid := range pids {
		_ = syscall.Kill(pid, sig)
	}
}

func crashes(slots []*slot) (n int) {
	for _, s := range slots {
		n += s.lines(pluginCrashed)
	}
	return n
}

// pluginCrashed is what a process logs whose plugin ended in a call.
const pluginCrashed = "trainer plugin crashed"

// waitsForTraining reports whether the run comes to a stop with everything in the log that a training needs.
func (w *world) waitsForTraining(timeout time.Duration) bool {
	const still = time.Second
	run, began := w.run(), time.Now()
	err := w.seen.await(timeout, func() bool {
		_, moves := w.seen.since(run, time.Now().Add(-still), nil)
		return !moves && time.Since(began) > still || w.seen.isFinished(run)
	})
	if err != nil || w.seen.isFinished(run) {
		return false
	}
	// Events of several topics are seen in about the order in which they were appended.
	kinds := w.seen.lately(run, still/3)
	for _, kind := range kinds {
		if kind == "RegretEstimated" || kind == "RegretUnavailable" || kind == "DesignerRewarded" {
			return true
		}
	}
	w.log.add("all waits, but not for the training: the last was %v", kinds)
	return false
}
