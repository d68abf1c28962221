//go:build linux

package chaos

import (
	"testing"
	"time"

	"github.com/seed256f7767/spade/test/processes"
)

// Every role and every server is killed over and over, each at a random moment of its work, and how long it takes until that
// work goes on is measured. Of each role there is one process, which its keeper starts again at once: there is nobody else
// who could do its work. Afterwards the oracle is that of the faults. SPADE_TEST_CHAOS_KILLS says how often.
func TestRolesRecover(t *testing.T) {
	set := readSettings(t, "chaos-kills", "SPADE_TEST_CHAOS_KILLS")
	set.roomy = true
	w := newWorld(t, set)
	w.layout = []place{
		{role: "policy"},
		{role: "trainer"},
		{role: "designer", asks: true},
		{role: "rollout", asks: true},
		{role: "scorer"},
		{role: "memory"},
		{role: "warehouse"},
	}
	w.begin()
	targets := []string{"policy", "trainer", "designer", "rollout", "scorer", "memory", "warehouse", "plugin", "sandbox"}
	if w.servers.ownKafka {
		targets = append(targets, "supervisor")
	}
	if w.servers.ownClickHouse {
		targets = append(targets, "clickhouse")
	}
	for n := range w.set.rounds {
		w.ensureRun()
		w.goesOn()
		time.Sleep(w.between(0, time.Second))
		if n%len(targets) == 0 {
			w.random.Shuffle(len(targets), func(i, j int) { targets[i], targets[j] = targets[j], targets[i] })
		}
		target := targets[n%len(targets)]
		w.log.add("kill %d of %d: %s", n+1, w.set.rounds, target)
		w.killTarget(target)
	}
	w.end()
	w.judge()
	w.table()
	w.report()
}

func (w *world) killTarget(target string) {
	switch target {
	case "plugin":
		w.killChild(target, processes.Plugin)
	case "sandbox":
		w.killChild(target, processes.Sandbox)
	case "supervisor":
		killServers(w)
	case "clickhouse":
		killClickHouse(w)
	default:
		w.killSlot(w.roleSlots(target)[0])
	}
}
