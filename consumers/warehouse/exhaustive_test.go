package warehouse

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// tree enumerates the decisions of a scheduler: each walk takes the next path that was not taken.
type tree struct {
	path, width []int
	depth       int
}

// choose returns the decision between n at this point of the walk.
func (t *tree) choose(n int) int {
	if t.depth == len(t.path) {
		t.path, t.width = append(t.path, 0), append(t.width, n)
	}
	if t.width[t.depth] != n {
		panic(fmt.Sprintf("the run is not repeatable: %d choices at step %d, were %d", n, t.depth, t.width[t.depth]))
	}
	t.depth++
	return t.path[t.depth-1]
}

// next prepares the next walk; false when all were taken.
func (t *tree) next() bool {
	t.depth = 0
	for i := len(t.path) - 1; i >= 0; i-- {
		if t.path[i]+1 < t.width[i] {
			t.path, t.width = t.path[:i+1], t.width[:i+1]
			t.path[i]++
			return true
		}
	}
	return false
}

// option is one thing that may happen next.
type option struct {
	actor *actor
	does  verdict
	begin bool // another member gets the partition
	wait  bool // time passes
}

func (o option) String() string {
	switch {
	case o.begin:
		return "another member gets the partition"
	case o.wait:
		return "time passes"
	}
	return fmt.Sprintf("%s: %s%s", o.actor.name, o.actor.at, []string{"", " → killed", " → lost", " → given up", " → server killed"}[o.does])
}

// walk is one run of the model: two members, one after the other, and a third that finishes whatever they leave.
type walk struct {
	*sim
	tree    *tree
	budget  int // things that may still go against the usual course
	told    bool
	cuts    []int
	lives   []*life
	current *actor
	trace   []string
}

func (w *walk) begin() {
	if n := len(w.lives); n > 0 {
		if old := w.lives[n-1]; !old.over && old.at != "" && !strings.HasPrefix(old.at, "claim") && !strings.HasPrefix(old.at, "load") {
			w.reach("rebalance during flush")
		}
		if w.told {
			w.lives[n-1].tell()
		}
	}
	cut := w.cuts[len(w.lives)%len(w.cuts)]
	l := w.open(fmt.Sprint("writer ", len(w.lives)+1), testPartition, func(int) int { return cut }, drain)
	w.lives = append(w.lives, l)
	w.current = l.actor
}

// finished reports whether the log is in the warehouse, as far as it says.
func (w *walk) finished() bool {
	for p, l := range w.logs {
		if w.server.offsets[p] < l.end {
			return false
		}
	}
	return true
}

// run lets things take their usual course, and something else wherever the tree says so.
func (w *walk) run() {
	w.begin()
	for w.problem == "" {
		ready, asleep := w.ready()
		if len(ready) == 0 {
			if asleep {
				w.pause()
				continue
			}
			if w.finished() {
				break
			}
			if len(w.lives) > 9 {
				w.fail("nine writers did not finish")
			}
			w.begin()
			continue
		}
		options := w.options(ready, asleep)
		i := w.tree.choose(len(options))
		if i > 0 {
			w.budget--
		}
		o := options[i]
		w.trace = append(w.trace, o.String())
		switch {
		case o.begin:
			w.begin()
		case o.wait:
			w.pause()
		default:
			w.current = o.actor
			o.actor.turn <- o.does
			synctest.Wait() // for what the step does, which may be wrong
		}
	}
	if w.problem == "" {
		w.check()
		w.released()
	}
	w.stop()
}

// released notices what would hold back the commits of the next reader although nothing does for one from the beginning.
func (w *walk) released() {
	for p, l := range w.logs {
		asm := event.Assembler{Midway: w.commits[p] > 0}
		for _, r := range l.records {
			if r.Offset >= w.commits[p] {
				asm.Add(r)
			}
		}
		if at, open := asm.OldestOpen(); open {
			w.fail("%v is committed up to %d, and whoever reads from there waits for the rest of what is at %d", p, w.commits[p], at)
		}
	}
}

// options begins with the usual course: the current actor goes on.
func (w *walk) options(ready []*actor, asleep bool) []option {
	if !slices.Contains(ready, w.current) {
		w.current = ready[0]
	}
	all := []option{{actor: w.current}}
	if w.budget == 0 {
		return all
	}
	for _, a := range ready {
		if a != w.current {
			all = append(all, option{actor: a})
		}
	}
	if asleep {
		all = append(all, option{wait: true})
	}
	if len(w.lives) < 2 {
		all = append(all, option{begin: true})
	}
	at := w.current.at
	if at == "end" { // a statement without a client
		return all
	}
	all = append(all, option{actor: w.current, does: crash}, option{actor: w.current, does: lose})
	// What is left behind is repaired under a second token, so the window must hold two.
	if strings.HasPrefix(at, stepInsert) && strings.HasSuffix(at, stageExecuting) && w.server.window > 1 {
		all = append(all, option{actor: w.current, does: forget})
	}
	return all
}

// modelLog is a log of few records with everything in it that a writer treats in its own way: an event with rows in two tables,
// one with rows in one, a repeat with another payload, and a record that cannot become rows.
func modelLog(t testing.TB, w *sim) {
	t.Helper()
	p := Place{topics.Environments, testPartition}
	run := uuid.UUID(testID("run", 1))
	put := func(n int, msg proto.Message) event.Event {
		env := uuid.UUID(testID("env", n))
		ev, err := event.New(topics.EnvKey(run, env), env, 0, msg, nil)
		if err != nil {
			t.Fatal(err)
		}
		ev.Time = time.Unix(1_700_000_000, 0)
		return ev
	}
	first := put(1, &spadepb.EnvironmentAccepted{
		RunId: run[:], EnvId: testID("env", 1), Nearest: []*spadepb.Neighbour{{EnvId: testID("env", 9)}},
	})
	again := put(1, &spadepb.EnvironmentAccepted{RunId: run[:], EnvId: testID("env", 1), Title: "another"})
	poison := put(3, &spadepb.EnvironmentRejected{RunId: run[:], EnvId: testID("env", 3)})
	poison.Payload = []byte{0xff, 0xff}
	w.append(p, first, 0)
	w.append(p, put(2, &spadepb.EnvironmentRejected{RunId: run[:], EnvId: testID("env", 2)}), 1)
	w.append(p, again, 0)
	w.append(p, poison, 0)
	w.append(p, put(4, &spadepb.EnvironmentRejected{RunId: run[:], EnvId: testID("env", 4)}), 0)
}

// largeLog is a log of events of several records: one whose producer did not come to know that it was whole and wrote it again, and
// one that was cut and written again. What lies between is small.
func largeLog(t testing.TB, w *sim) {
	t.Helper()
	p := Place{topics.Environments, testPartition}
	run := uuid.UUID(testID("run", 1))
	put := func(n, parts int, nonce byte, left int) {
		env := uuid.UUID(testID("env", n))
		ev, err := event.New(topics.EnvKey(run, env), env, 0, &spadepb.EnvironmentRejected{RunId: run[:], EnvId: env[:]}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ev.Time = time.Unix(1_700_000_000, 0)
		records := w.encode(ev, (len(ev.Payload)+parts-1)/parts, uuid.UUID{nonce})
		for _, r := range records[:len(records)-left] {
			w.put(p, r)
		}
	}
	put(1, 2, 1, 0) // 0-1
	put(1, 2, 2, 0) // 2-3
	put(2, 1, 0, 0) // 4
	put(3, 3, 3, 1) // 5-6, and no more
	put(3, 2, 4, 0) // 7-8
	put(3, 2, 5, 0) // 9-10
	put(4, 1, 0, 0) // 11
}

// explore takes every path of a configuration and returns how many there were.
func explore(t *testing.T, budget, window int, told bool, cuts []int, wrong string, reached map[string]int) (paths int, problem string) {
	return exploreLog(t, modelLog, budget, window, told, cuts, wrong, reached)
}

func exploreLog(
	t *testing.T, fill func(testing.TB, *sim), budget, window int, told bool, cuts []int, wrong string, reached map[string]int,
) (paths int, problem string) {
	model := newSim(t, simSink(t), window)
	fill(t, model)
	tree := &tree{}
	for {
		paths++
		synctest.Test(t, func(t *testing.T) {
			w := &walk{sim: newSim(t, model.base, window), tree: tree, budget: budget, told: told, cuts: cuts}
			w.wrong, w.logs = wrong, model.logs // nothing is appended
			w.run()
			for what, n := range w.reached {
				reached[what] += n
			}
			if w.problem != "" {
				problem = fmt.Sprintf("%s, after\n\t%s", w.problem, strings.Join(w.trace, "\n\t"))
			}
		})
		if problem != "" || !tree.next() {
			return paths, problem
		}
	}
}

// depth is how many things may go against the usual course in one run. Three take minutes.
func depth(t *testing.T) int {
	t.Helper()
	text := os.Getenv("SPADE_TEST_MODEL_DEPTH")
	if text == "" {
		return 2
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("SPADE_TEST_MODEL_DEPTH: %v", err)
	}
	return n
}

// TestEveryInterleavingNoticesWhatIsBroken: without one of its rules the sink doubles or loses something, and the model finds where.
func TestEveryInterleavingNoticesWhatIsBroken(t *testing.T) {
	for _, wrong := range []string{"no fence", "no plan", "no look", "no token"} {
		_, problem := explore(t, 2, 2, false, []int{2, 9}, wrong, map[string]int{})
		if problem == "" {
			t.Errorf("%s: not noticed", wrong)
		}
		t.Logf("%s: %s", wrong, problem)
	}
}

// TestEveryInterleaving takes two writers of one partition through every order of their steps in which at most so many things go
// against the usual course, each at every point: the partition goes to the other one, the stopped one wakes up, a process is
// killed, an answer is lost, a statement goes on without its client, the server is killed in an insert.
func TestEveryInterleaving(t *testing.T) {
	reached := map[string]int{}
	total := 0
	for _, c := range []struct {
		budget, window int
		told           bool
		cuts           []int
	}{
		{depth(t), 1, false, []int{9}},
		{depth(t), 2, false, []int{9}},
		{depth(t), 1, true, []int{2, 9}},
		{depth(t), 1000, false, []int{9, 2}},
	} {
		paths, problem := explore(t, c.budget, c.window, c.told, c.cuts, "", reached)
		if problem != "" {
			t.Fatalf("%+v: %s", c, problem)
		}
		total += paths
		t.Logf("%+v: %d paths", c, paths)
	}
	for _, what := range slices.Sorted(maps.Keys(reached)) {
		t.Logf("%s: %d times", what, reached[what])
	}
	for _, what := range []string{"rebalance during flush", "dedup hit", "dead letter", "plan repeated", "fenced writer", "rows found", "token forgotten"} {
		if reached[what] == 0 {
			t.Errorf("never reached: %s", what)
		}
	}
}

// TestEveryInterleavingOfLargeEvents: whether the second writing of a large event is one more event or void depends on where a
// reader begins. Whatever is killed wherever, the next writer understands what the one before had planned, and nothing holds the
// group back once everything is durable.
func TestEveryInterleavingOfLargeEvents(t *testing.T) {
	reached := map[string]int{}
	for _, cuts := range [][]int{{2, 20}, {9, 1}} {
		paths, problem := exploreLog(t, largeLog, min(2, depth(t)), 2, false, cuts, "", reached)
		if problem != "" {
			t.Fatalf("%v: %s", cuts, problem)
		}
		t.Logf("%v: %d paths", cuts, paths)
	}
	for _, what := range []string{"plan repeated", "retry read without its first writing"} {
		if reached[what] == 0 {
			t.Errorf("never reached: %s", what)
		}
	}
}
