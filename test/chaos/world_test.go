//go:build linux

package chaos

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/ids"
)

// world is one running installation of the program.
type world struct {
	t       *testing.T
	set     settings
	random  *rand.Rand // of the faults; used by one goroutine
	bin     string
	corpus  string
	dir     string // of everything
	data    string // folder of the embedded services
	tmpfs   bool   // data is a small file system of its own
	nonce   string // tells the runs of this world from those of others on the same servers
	log     *timeline
	servers servers
	up      *slot   // holds the embedded services; nil where none is embedded
	layout  []place // the slots to begin with
	slots   []*slot
	ledger  *ledger
	seen    *observer
	told    *told
	append  *appender
	sql     olap.Conn
	memory  *vector.Client
	runs    []string // names of the runs, in order
	// lastWritten is how far the warehouse was when it was last asked.
	lastWritten int64

	mu       sync.Mutex // guards the following
	problems []string
	reached  map[string]int
	recovery map[string][]time.Duration // how long it took until a role worked again
	idle     int                        // kills after which there was nothing to do
}

// newWorld starts an installation.
func newWorld(t *testing.T, set settings) *world {
	t.Helper()
	w := &world{
		t: t, set: set, random: rand.New(rand.NewPCG(set.seed, 0)), ledger: &ledger{}, reached: map[string]int{},
		recovery: map[string][]time.Duration{}, layout: crew(),
		nonce: fmt.Sprintf("%x", time.Now().UnixNano()),
	}
	w.dir = w.folder()
	w.log = newTimeline(t, w.dir)
	t.Cleanup(w.log.close)
	w.bin = build(t, set)
	var err error
	if w.corpus, err = filepath.Abs("../../examples/corpus"); err != nil {
		t.Fatal(err)
	}
	w.data = filepath.Join(w.dir, "data")
	if !set.roomy {
		w.mountSmall()
	}
	w.servers = findServers(t, w.bin, w.data)
	w.holdServers()
	w.sql, w.memory = w.warehouse(), w.vectors()
	w.log.add("seed %d, %d rounds; embedded: kafka %t, clickhouse %t, qdrant %t", set.seed, set.rounds,
		w.servers.ownKafka, w.servers.ownClickHouse, w.servers.ownQdrant)
	return w
}

// folder is where everything of the world lies. It is kept when the test fails.
func (w *world) folder() string {
	w.t.Helper()
	if w.set.keep != "" {
		if err := os.MkdirAll(w.set.keep, 0o755); err != nil {
			w.t.Fatal(err)
		}
	}
	dir, err := os.MkdirTemp(w.set.keep, fmt.Sprintf("chaos-%d-", w.set.seed))
	if err != nil {
		w.t.Fatal(err)
	}
	if dir, err = filepath.Abs(dir); err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("%s holds the timeline and what every process said", dir)
			return
		}
		// The services of the quiet runs outlive them by some seconds.
		var err error
		for range 100 {
			if err = os.RemoveAll(dir); err == nil {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		w.t.Error(err)
	})
	return dir
}

// smallBytes is the size of the file system of the data folder, where one can be mounted.
const smallBytes = 512 << 20

// mountSmall puts the data folder on a file system that can be filled.
func (w *world) mountSmall() {
	if err := os.MkdirAll(w.data, 0o700); err != nil {
		w.t.Fatal(err)
	}
	err := syscall.Mount("none", w.data, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", smallBytes))
	if err != nil {
		w.log.add("no small file system can be mounted: %v", err)
		return
	}
	w.tmpfs = true
	w.t.Cleanup(func() {
		w.keepData()
		if err := syscall.Unmount(w.data, syscall.MNT_DETACH); err != nil {
			w.t.Error(err)
		}
	})
}

// keepData copies what the servers leave, which goes with the file system, when the test has failed.
func (w *world) keepData() {
	if !w.t.Failed() {
		return
	}
	out, err := exec.Command("cp", "-r", w.data, filepath.Join(w.dir, "kept")).CombinedOutput()
	if err != nil {
		w.t.Logf("keep the servers' data: %v: %s", err, out)
	}
}

// holdServers keeps the embedded services up for as long as the world lasts.
func (w *world) holdServers() {
	if !w.servers.anyOwn() {
		return
	}
	w.up = &slot{w: w, name: "up", place: place{role: "up"}, args: []string{"up", "--data", w.data}}
	w.up.start()
	w.t.Cleanup(func() { w.up.stop(stopTimeout) })
}

// stopTimeout is above the drain of a process.
const stopTimeout = 40 * time.Second

// name is a name that is this world's own.
func (w *world) name(what string) string { return what + "-" + w.nonce }

// client is a connection of the test's own to the log.
func (w *world) client(set bus.Settings) *bus.Client {
	w.t.Helper()
	c, err := bus.New(w.servers.bus(), set)
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = c.Close() })
	return c
}

func (w *world) warehouse() olap.Conn {
	w.t.Helper()
	conn, err := olap.Open(w.servers.olap())
	if err != nil {
		w.t.Fatal(err)
	}
	w.t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// problem notes what must not happen. The test goes on, so that the oracle can say what came of it.
func (w *world) problem(format string, args ...any) {
	text := fmt.Sprintf(format, args...)
	w.log.add("PROBLEM %s", text)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems = append(w.problems, text)
}

// reach notes that something was reached which a run must reach.
func (w *world) reach(what string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reached[what]++
}

// report fails the test with the problems that were noted.
func (w *world) report() {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, p := range w.problems {
		w.t.Error(p)
	}
	if w.t.Failed() {
		w.t.Errorf("repeat it with: make %s SEED=%d ROUNDS=%d", w.set.target, w.set.seed, w.set.rounds)
	}
}

// addSlot fills a place with a process of a role.
func (w *world) addSlot(p place) *slot {
	n := len(w.roleSlots(p.role))
	s := &slot{w: w, place: p, name: fmt.Sprintf("%s-%d", p.role, n)}
	data := w.data
	if p.linked && !w.servers.tls() || !w.servers.anyOwn() {
		if !w.servers.tls() {
			s.links = newLinks(w.t, w.servers, s.who, w.ledger)
		}
		data = filepath.Join(w.dir, s.name)
	}
	s.args = []string{"worker", p.role, "--data", data}
	switch {
	case p.role == "warehouse":
		s.metrics = freeAddr(w.t)
		s.args = append(s.args, "--metrics-listen", s.metrics)
	case p.role == "policy":
		s.policy = freeAddr(w.t)
		s.args = append(s.args, "--policy-listen", s.policy)
	case p.asks:
		s.args = append(s.args, "--policy-addr", w.roleSlots("policy")[0].policy)
	}
	w.slots = append(w.slots, s)
	s.start()
	return s
}

// tool runs a command of the program that ends by itself, on the data folder.
func (w *world) tool(args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.bin, append(args, "--data", w.data)...)
	cmd.Env = w.servers.external()
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("spade %s: %w\n%s%s", strings.Join(args, " "), err, out, problems.Bytes())
	}
	return out, nil
}

// run is the id of the newest run.
func (w *world) run() uuid.UUID { return ids.Run(w.runs[len(w.runs)-1]) }
