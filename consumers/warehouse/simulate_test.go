package warehouse

import (
	"context"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// simulation is a random run: writers of several partitions, whose topics share tables, while the log grows, members come and go,
// and anything can go wrong at any step.
type simulation struct {
	*sim
	rng     *rand.Rand
	number  int // of the next event
	lives   int
	live    map[int32][]*life // those that may still run, by partition
	closing bool
	writing map[Place][]writing // events of several records that are being written
	trace   uint64              // digest of everything that was decided
	log     func(format string, args ...any)
}

const (
	simPartitions = 2
	simSteps      = 700
)

func newSimulation(t testing.TB, base *Sink, seed uint64, wrong string) *simulation {
	rng := rand.New(rand.NewPCG(seed, 77))
	windows := []int{2, 3, 50}
	s := &simulation{
		sim: newSim(t, base, windows[rng.IntN(len(windows))]), rng: rng, live: map[int32][]*life{},
		writing: map[Place][]writing{}, log: func(string, ...any) {},
	}
	if os.Getenv("SPADE_TEST_SEED") != "" {
		s.log = t.Logf
	}
	s.log("tables remember %d tokens", s.server.window)
	s.wrong = wrong
	for p := range int32(simPartitions) {
		for _, topic := range simTopics() {
			s.produce(Place{topic, p})
		}
	}
	return s
}

func simTopics() []string { return []string{topics.Documents, topics.Environments, topics.Rollouts} }

// writing is an event of several records and those that are not in the log yet.
type writing struct {
	event event.Event
	rest  []event.Record
}

// produceLarge appends a record of an event of several: of a new one, of one whose producer died before it was whole, or of one
// that was whole and whose producer did not come to know. The last two are written again under another nonce.
func (s *simulation) produceLarge(p Place) {
	begin := func(ev event.Event) {
		var nonce uuid.UUID
		binary.BigEndian.PutUint64(nonce[:], s.rng.Uint64())
		s.writing[p] = append(s.writing[p], writing{ev, s.encode(ev, 1+len(ev.Payload)/(2+s.rng.IntN(3)), nonce)})
	}
	if len(s.writing[p]) == 0 {
		begin(makeEvent(s.rng, p.Topic, s.number))
		s.number++
	}
	i := s.rng.IntN(len(s.writing[p]))
	w := &s.writing[p][i]
	s.put(p, w.rest[0])
	w.rest = w.rest[1:]
	if len(w.rest) > 0 && s.rng.IntN(8) > 0 {
		return
	}
	ev, cut := w.event, len(w.rest) > 0
	s.writing[p] = slices.Delete(s.writing[p], i, i+1)
	if cut || s.rng.IntN(2) == 0 {
		begin(ev)
	}
}

// produce appends an event: a new one, a repeat with another payload, or one that cannot become rows.
func (s *simulation) produce(p Place) {
	if s.rng.IntN(3) == 0 {
		s.produceLarge(p)
		return
	}
	ev := makeEvent(s.rng, p.Topic, s.number)
	s.number++
	if l := s.logs[p]; l != nil && len(l.events) > 0 && s.rng.IntN(6) == 0 {
		old := l.events[s.rng.IntN(len(l.events))]
		ev.ID, ev.Key = old.ID, old.Key
	}
	if s.rng.IntN(12) == 0 {
		ev.Payload = []byte{0xff, 0xff, 0xff}
	}
	s.append(p, ev, int64(s.rng.IntN(2)))
}

func (s *simulation) run() {
	var current *actor
	for step := 0; step < simSteps && s.problem == ""; step++ {
		ready, asleep := s.ready()
		switch r := s.rng.IntN(100); {
		case r < 8:
			s.produce(Place{simTopics()[s.rng.IntN(3)], int32(s.rng.IntN(simPartitions))})
			continue
		case r < 11:
			s.rebalance(int32(s.rng.IntN(simPartitions)))
			continue
		case r == 11:
			s.restart(ready)
			continue
		}
		if len(ready) == 0 || (asleep && s.rng.IntN(10) == 0) {
			if !asleep {
				s.rebalance(int32(s.rng.IntN(simPartitions)))
				continue
			}
			s.pause()
			continue
		}
		if !slices.Contains(ready, current) || s.rng.IntN(4) == 0 {
			current = ready[s.rng.IntN(len(ready))]
		}
		s.let(current, s.mishap(current))
	}
	s.settle()
	s.stop()
}

// let takes a step of an actor.
func (s *simulation) let(a *actor, v verdict) {
	h := fnv.New64a()
	fmt.Fprint(h, s.trace, a.name, a.at, v)
	s.trace = h.Sum64()
	s.log("%s", option{actor: a, does: v})
	a.turn <- v
	synctest.Wait() // for what the step does, which may be wrong
}

// mishap is what happens to a step: nothing, most of the time.
func (s *simulation) mishap(a *actor) verdict {
	if a.at == "end" {
		return proceed
	}
	switch s.rng.IntN(60) {
	case 0:
		return crash
	case 1:
		return lose
	case 2:
		return leave
	case 3:
		if strings.HasPrefix(a.at, stepInsert) && strings.HasSuffix(a.at, stageExecuting) {
			return forget
		}
	}
	return proceed
}

// rebalance gives a partition to another member. The one before is asked to hand it over, told that it is lost, or told nothing.
func (s *simulation) rebalance(p int32) {
	if old := s.members[p]; old != nil && !old.over {
		if old.at != "" && old.at != "idle" {
			s.reach("rebalance during flush")
		}
		switch s.rng.IntN(3) {
		case 0:
			old.leave = true
			return // the next one comes when this one is gone
		case 1:
			old.tell()
		}
	}
	s.lives++
	s.log("partition %d goes to writer %d", p, s.lives)
	rng := rand.New(rand.NewPCG(s.rng.Uint64(), 1))
	l := s.open(fmt.Sprint("writer ", s.lives), p, func(left int) int { return 1 + rng.IntN(min(left, 6)) }, func(ctx context.Context, l *life, p *partition) error {
		return s.work(ctx, l, p, rng)
	})
	s.live[p] = append(s.live[p], l)
}

// work is what a member does until it is to leave.
func (s *simulation) work(ctx context.Context, l *life, p *partition, rng *rand.Rand) error {
	for l.awake(); !l.leave; l.awake() {
		came := false
		for _, i := range rng.Perm(len(simTopics())) {
			more, err := l.next(ctx, p, simTopics()[i])
			if err != nil {
				return err
			}
			came = came || more
			if rng.IntN(3) == 0 {
				if err := p.flushOlder(ctx, 0); err != nil {
					return err
				}
			}
		}
		if came {
			continue
		}
		if err := p.flushOlder(ctx, 0); err != nil {
			return err
		}
		l.awake()
		if s.closing {
			break
		}
		if v := l.step("idle"); v == crash {
			return errCrash
		}
	}
	return p.Revoked(ctx)
}

// restart ends the server and brings it back: nobody gets an answer to what is being executed.
func (s *simulation) restart(ready []*actor) {
	s.log("the server restarts")
	for _, a := range ready {
		if strings.HasSuffix(a.at, stageExecuting) {
			s.let(a, lose)
			synctest.Wait()
		}
	}
	s.server.restart(s.rng.IntN)
	s.reach("server restarted")
}

// settle lets everything take its usual course until the warehouse holds the log.
func (s *simulation) settle() {
	synctest.Wait() // for the last step
	s.closing = true
	for range 20_000 {
		ready, asleep := s.ready()
		switch {
		case s.problem != "":
			return
		case len(ready) > 0:
			s.let(ready[s.rng.IntN(len(ready))], proceed)
		case asleep:
			s.pause()
		default:
			if p, behind := s.behind(); behind {
				s.rebalance(p)
				continue
			}
			s.check()
			return
		}
	}
	s.fail("the writers do not come to an end")
}

func (s *simulation) behind() (int32, bool) {
	for _, p := range slices.SortedFunc(maps.Keys(s.logs), comparePlaces) {
		if s.server.offsets[p] < s.logs[p].end {
			return p.Partition, true
		}
	}
	return 0, false
}

// simulate runs a seed and returns what was wrong, and a digest of what was done.
func simulate(t *testing.T, base *Sink, seed uint64, wrong string, reached map[string]int) (problem string, trace uint64) {
	synctest.Test(t, func(t *testing.T) {
		s := newSimulation(t, base, seed, wrong)
		s.run()
		for what, n := range s.reached {
			reached[what] += n
		}
		problem, trace = s.problem, s.trace
	})
	return problem, trace
}

// TestSimulation runs random seeds. SPADE_TEST_SEED runs that one only, SPADE_TEST_SEEDS as many as it says.
func TestSimulation(t *testing.T) {
	from, to := uint64(0), uint64(150)
	if n, ok := number(t, "SPADE_TEST_SEEDS"); ok {
		to = n
	}
	only, one := number(t, "SPADE_TEST_SEED")
	if one {
		from, to = only, only+1
	}
	base, reached := simSink(t), map[string]int{}
	for seed := from; seed < to; seed++ {
		if problem, _ := simulate(t, base, seed, "", reached); problem != "" {
			t.Fatalf("%s\nrepeat it with SPADE_TEST_SEED=%d", problem, seed)
		}
	}
	t.Logf("%d seeds: %v", to-from, reached)
	if one {
		return
	}
	for _, what := range []string{
		"rebalance during flush", "dedup hit", "dead letter", "plan repeated", "fenced writer", "rows found", "token forgotten", "server restarted",
		"retry read without its first writing",
	} {
		if reached[what] == 0 {
			t.Errorf("never reached: %s", what)
		}
	}
}

// TestSimulationNoticesWhatIsBroken: without one of its rules the sink fails within a few seeds.
func TestSimulationNoticesWhatIsBroken(t *testing.T) {
	base := simSink(t)
	for _, wrong := range []string{"no fence", "no plan", "no look", "no token", "old claims"} {
		problem, seed := "", uint64(0)
		for ; seed < 1000 && problem == ""; seed++ {
			problem, _ = simulate(t, base, seed, wrong, map[string]int{})
		}
		if problem == "" {
			t.Errorf("%s: not noticed", wrong)
		}
		t.Logf("%s: seed %d: %s", wrong, seed-1, problem)
	}
}

// TestSimulationIsRepeatable: a seed that is printed is of use only if it does the same again.
func TestSimulationIsRepeatable(t *testing.T) {
	base := simSink(t)
	for seed := range uint64(10) {
		_, first := simulate(t, base, seed, "", map[string]int{})
		_, second := simulate(t, base, seed, "", map[string]int{})
		if first != second {
			t.Errorf("seed %d went differently the second time", seed)
		}
	}
}

func number(t *testing.T, name string) (uint64, bool) {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return 0, false
	}
	n, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n, true
}
