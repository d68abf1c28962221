package warehouse

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"golang.org/x/sync/semaphore"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// A sim runs real writers against a log and a server in memory. Every request of a writer is a step for which it waits until the
// scheduler lets it go on, and only one actor runs at a time, so a run is a function of the scheduler's decisions. It has to be
// in a synctest bubble: the writers' waits are in its time.

// verdict is what the scheduler does with a step.
type verdict int

const (
	proceed verdict = iota
	crash           // the client is killed; what the server executes goes on
	lose            // the request or its answer is lost
	leave           // the client gives the statement up, and the server goes on with it
	forget          // the server is killed while it executes an insert, and keeps the token alone
)

// Names of steps that the schedulers look at.
const (
	stepInsert     = "insert"
	stageExecuting = ", executing"
	stageAnswer    = ", answer"
)

// actor is something that takes steps: a writer, or a statement whose client is gone.
type actor struct {
	name string
	at   string // the step that it waits for; empty while it runs or waits for time to pass
	turn chan verdict
	over bool
	err  error
	last func() // what the scheduler does once it is over
	mu   *sync.Mutex
}

// awake comes after everything that the scheduler did before it let time pass. The bubble runs them one after the other, but a timer
// does not tell the race detector.
func (a *actor) awake() {
	a.mu.Lock()
	defer a.mu.Unlock()
}

func (a *actor) step(what string) verdict {
	a.awake()
	a.at = what
	v := <-a.turn
	a.at = ""
	return v
}

// placeLog is one partition of one topic and what a warehouse should hold of it.
type placeLog struct {
	events  []event.Event // as one sees them who reads from the beginning
	records []event.Record
	asm     event.Assembler // of that reader
	end     int64
	want    map[string]map[int64]int // rows by table and offset
	ids     map[int64]uuid.UUID      // of the records by which rows came
	poison  []int64
	erased  map[textKey]int64 // texts that must go, and the offset that says so
	seen    map[uuid.UUID]bool
}

func (l *placeLog) id(offset int64) uuid.UUID { return l.ids[offset] }

// sim is one run.
type sim struct {
	mu      sync.Mutex // see actor.awake
	t       testing.TB
	base    *Sink
	server  *server
	logs    map[Place]*placeLog
	actors  []*actor
	members map[int32]*life // who the group says has a partition number
	commits map[Place]int64
	dead    map[Place]map[int64]bool
	reached map[string]int
	problem string // the first thing that was wrong
	wrong   string // what is broken on purpose
}

func newSim(t testing.TB, base *Sink, window int) *sim {
	s := &sim{
		t: t, base: base, logs: map[Place]*placeLog{}, members: map[int32]*life{}, commits: map[Place]int64{},
		dead: map[Place]map[int64]bool{}, reached: map[string]int{},
	}
	s.server = newServer(s, window)
	return s
}

// simSink is a sink to be copied for each life: making one costs more than a whole run.
func simSink(t testing.TB) *Sink {
	t.Helper()
	s, err := New(Config{FlushBytes: 1 << 20, FlushIdle: time.Hour, FlushMax: time.Hour}, Settings{
		Log: nowhere{}, Store: &session{}, Topics: topics.All(1), DeadLetter: func(context.Context, event.Record, error) error { return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *sim) reach(what string) { s.reached[what]++ }

func (s *sim) fail(format string, args ...any) {
	if s.problem == "" {
		s.problem = fmt.Sprintf(format, args...)
	}
}

// append adds an event of one record to a log.
func (s *sim) append(p Place, ev event.Event, gap int64) {
	s.logOf(p).end += gap
	for _, r := range s.encode(ev, 0, uuid.Nil) {
		s.put(p, r)
	}
}

// encode makes the records of one writing of an event.
func (s *sim) encode(ev event.Event, limit int, nonce uuid.UUID) []event.Record {
	records, err := event.Encode(ev, limit, nonce)
	if err != nil {
		s.t.Fatal(err)
	}
	return records
}

// put adds a record to a log, and the event that it completes to what the warehouse should hold.
func (s *sim) put(p Place, r event.Record) (whole bool) {
	l := s.logOf(p)
	r.Topic, r.Partition, r.Offset, r.Time = p.Topic, p.Partition, l.end, time.Unix(1_700_000_000, 0)
	l.records, l.end = append(l.records, r), l.end+1
	ev, _ := l.asm.Add(r)
	if ev != nil {
		s.happened(p, l, *ev)
	}
	return ev != nil
}

func (s *sim) logOf(p Place) *placeLog {
	l := s.logs[p]
	if l == nil {
		l = &placeLog{
			want: map[string]map[int64]int{}, ids: map[int64]uuid.UUID{}, erased: map[textKey]int64{}, seen: map[uuid.UUID]bool{},
		}
		s.logs[p] = l
	}
	return l
}

// happened notes what the warehouse should hold of an event.
func (s *sim) happened(p Place, l *placeLog, ev event.Event) {
	at := ev.LastOffset
	l.events = append(l.events, ev)
	if l.seen[ev.ID] {
		return
	}
	set := tables.NewSet(memory.DefaultAllocator, s.base.catalogue, 0)
	defer set.Release()
	msg, err := ev.Message()
	if err != nil || set.Append(&ev, msg) != nil {
		l.poison = append(l.poison, at)
		return
	}
	l.seen[ev.ID], l.ids[at] = true, ev.ID
	for _, b := range set.Blocks() {
		if l.want[b.Table.Name] == nil {
			l.want[b.Table.Name] = map[int64]int{}
		}
		l.want[b.Table.Name][at] = int(b.Record.NumRows())
		b.Record.Release()
	}
	if m, ok := msg.(*spadepb.DocumentWithdrawn); ok {
		for _, old := range l.events {
			msg, err := old.Message()
			if in, ok := msg.(*spadepb.DocumentIngested); ok && err == nil && string(in.GetDocumentId()) == string(m.GetDocumentId()) {
				key := textKey{rowKey{p, old.LastOffset}, uuid.UUID(m.GetDocumentId())}
				if l.want[tables.DocumentEvents][old.LastOffset] > 0 && l.erased[key] == 0 {
					l.erased[key] = at
				}
			}
		}
	}
}

// added notices a row that should not be there.
func (s *sim) added(table string, key rowKey) {
	if got, want := s.server.rows[table][key], s.logs[key.place].want[table][key.offset]; got > want {
		s.fail("%s has %d rows of %v at %d, want %d", table, got, key.place, key.offset, want)
	}
}

// complete notices that something before next is not there although the warehouse says so.
func (s *sim) complete(p Place, next int64) {
	l := s.logs[p]
	for table, offsets := range l.want {
		for at, want := range offsets {
			if got := s.server.rows[table][rowKey{p, at}]; at < next && got != want {
				s.fail("%v is finished up to %d and %s has %d rows of %d, want %d", p, next, table, got, at, want)
			}
		}
	}
	for _, at := range l.poison {
		if at < next && !s.dead[p][at] {
			s.fail("%v is finished up to %d and %d is no dead letter", p, next, at)
		}
	}
	for key, by := range l.erased {
		if by < next && s.server.texts[key] != "" {
			s.fail("%v is finished up to %d and the text of %d is there", p, next, key.offset)
		}
	}
}

// check is the oracle of the end: the warehouse is the fold of the log.
func (s *sim) check() {
	for p, l := range s.logs {
		s.complete(p, math.MaxInt64)
		if s.server.offsets[p] < l.end {
			s.fail("%v is finished up to %d of %d", p, s.server.offsets[p], l.end)
		}
	}
	for table, rows := range s.server.rows {
		for key, n := range rows {
			if want := s.logs[key.place].want[table][key.offset]; n != want {
				s.fail("%s has %d rows of %v at %d, want %d", table, n, key.place, key.offset, want)
			}
		}
	}
}

// spawn runs fn as an actor.
func (s *sim) spawn(name string, fn func(*actor) error) *actor {
	a := &actor{name: name, turn: make(chan verdict)}
	s.start(a, fn)
	return a
}

func (s *sim) start(a *actor, fn func(*actor) error) {
	a.mu = &s.mu
	s.actors = append(s.actors, a)
	go func() {
		err := fn(a)
		a.awake()
		a.err, a.over = err, true
	}()
}

// outlive lets a statement go on whose client is gone.
func (s *sim) outlive(what string, st *statement) {
	s.spawn(what+" without a client", func(a *actor) error {
		a.step("end")
		st.end()
		return nil
	})
}

// ready are the actors that wait for the scheduler, in the order in which they came to be.
func (s *sim) ready() (list []*actor, asleep bool) {
	synctest.Wait()
	s.actors = slices.DeleteFunc(s.actors, func(a *actor) bool {
		if a.over && a.last != nil {
			a.last()
		}
		return a.over
	})
	for _, a := range s.actors {
		if a.at == "" {
			asleep = true
			continue
		}
		list = append(list, a)
	}
	return list, asleep
}

// rest is longer than any wait of a writer.
const rest = 5 * time.Second

// pause lets time pass until everybody who waits for it has come to a step.
func (s *sim) pause() {
	func() {
		s.mu.Lock()
		defer s.mu.Unlock()
	}()
	time.Sleep(rest)
}

// stop kills what still runs.
func (s *sim) stop() {
	for {
		ready, asleep := s.ready()
		for _, a := range ready {
			a.turn <- crash
			synctest.Wait()
		}
		if len(ready) > 0 {
			continue
		}
		if !asleep {
			return
		}
		s.pause()
	}
}

// life is one writer that has a partition number, or believes so.
type life struct {
	*actor
	sim    *sim
	number int32
	sink   *Sink
	tell   context.CancelFunc // tells it that the partition is lost
	leave  bool               // it is to hand the partition over
	start  map[string]int64
	from   map[string]int64   // where the next batch begins
	cut    func(left int) int // how many records come with the next batch
	reads  map[string]*reading
}

// reading is what the bus keeps of a topic that it delivers: events of several records, whole ones and begun ones, hold the commits
// back.
type reading struct {
	asm   event.Assembler
	large []event.Event // delivered and not committed
}

// safe is how far may be committed when everything before next is durable.
func (r *reading) safe(next int64) int64 {
	at := next
	r.large = slices.DeleteFunc(r.large, func(ev event.Event) bool { return ev.LastOffset < next })
	for _, ev := range r.large {
		at = min(at, ev.Offset)
	}
	if open, ok := r.asm.OldestOpen(); ok {
		at = min(at, open)
	}
	return at
}

var errLost = errors.New("the group has given this member up")

// open starts a life, which the group regards as the partition's member from now on.
func (s *sim) open(name string, number int32, cut func(int) int, work func(context.Context, *life, *partition) error) *life {
	ctx, tell := context.WithCancel(context.Background())
	l := &life{sim: s, number: number, tell: tell, cut: cut, start: map[string]int64{}, from: map[string]int64{}, reads: map[string]*reading{}}
	s.members[number] = l
	l.actor = &actor{name: name, turn: make(chan verdict)}
	s.start(l.actor, func(a *actor) error {
		defer tell()
		l.sink = s.sinkFor(l)
		a.last = func() {
			s.reached["plan repeated"] += int(l.sink.Stats().Repaired)
			if errors.Is(a.err, ErrOtherLog) {
				s.fail("%s: %v", a.name, a.err)
			}
		}
		for _, topic := range l.Topics() {
			l.start[topic] = s.commits[Place{topic, number}]
		}
		p, err := l.sink.open(ctx, l, Group, 1, number)
		if err != nil {
			return err
		}
		l.from = maps.Clone(l.start)
		return work(ctx, l, p)
	})
	synctest.Wait() // until its first step: nobody else runs
	return l
}

func (s *sim) sinkFor(l *life) *Sink {
	sink := &Sink{
		cfg: s.base.cfg, set: s.base.set, log: s.base.log, catalogue: s.base.catalogue, cut: s.base.cut, fullFor: s.base.fullFor,
		groups: s.base.groups, flushing: semaphore.NewWeighted(4), progress: newProgress(),
	}
	sink.set.Store = &session{server: s.server, actor: l.actor, wrong: s.wrong}
	sink.set.DeadLetter = func(_ context.Context, r event.Record, _ error) error {
		switch l.step("dead letter") {
		case crash:
			return errCrash
		case lose, leave, forget:
			return errNoAnswer
		}
		p := Place{r.Topic, r.Partition}
		if s.dead[p] == nil {
			s.dead[p] = map[int64]bool{}
		}
		s.dead[p][r.Offset] = true
		s.reach("dead letter")
		return nil
	}
	return sink
}

var _ claim = (*life)(nil)

// Topics implements claim.
func (l *life) Topics() []string {
	var names []string
	for p := range l.sim.logs {
		if p.Partition == l.number {
			names = append(names, p.Topic)
		}
	}
	slices.Sort(names)
	return names
}

// Committed implements claim.
func (l *life) Committed(topic string) (int64, bool) {
	at, ok := l.sim.commits[Place{topic, l.number}]
	return at, ok
}

// StartAt implements claim.
func (l *life) StartAt(topic string, offset int64) error {
	l.start[topic] = offset
	return nil
}

// Commit implements claim. The group refuses it from whom it has given up.
func (l *life) Commit(topic string, next int64) error {
	p := Place{topic, l.number}
	if next > l.sim.server.offsets[p] {
		l.sim.fail("%s commits %v at %d, and the warehouse is finished up to %d", l.name, p, next, l.sim.server.offsets[p])
	}
	if l.sim.members[l.number] != l {
		return errLost
	}
	l.sim.commits[p] = max(l.sim.commits[p], l.reads[topic].safe(next))
	return nil
}

// next delivers some of the records that a topic has more of, and reports whether there were any.
func (l *life) next(ctx context.Context, p *partition, topic string) (bool, error) {
	l.awake()
	log := l.sim.logs[Place{topic, l.number}]
	from := l.from[topic]
	if from >= log.end {
		return false, nil
	}
	b := bus.Batch{Topic: topic, Partition: l.number, End: log.end, Next: min(log.end, from+int64(l.cut(int(log.end-from))))}
	read := l.reads[topic]
	if read == nil {
		read = &reading{asm: event.Assembler{Midway: l.start[topic] > 0}}
		l.reads[topic] = read
	}
	first, _ := slices.BinarySearchFunc(log.records, from, func(r event.Record, at int64) int { return cmp.Compare(r.Offset, at) })
	for _, r := range log.records[first:] {
		if r.Offset >= b.Next {
			break
		}
		ev, lost := read.asm.Add(r)
		if len(lost) > 0 {
			l.sim.fail("%s loses %v", l.name, lost)
		}
		if ev == nil {
			continue
		}
		b.Events = append(b.Events, *ev)
		if ev.Offset < ev.LastOffset {
			read.large = append(read.large, *ev)
			if !slices.ContainsFunc(log.events, func(e event.Event) bool { return e.LastOffset == ev.LastOffset }) {
				l.sim.reach("retry read without its first writing")
			}
		}
	}
	l.from[topic] = b.Next
	return true, p.Process(ctx, b)
}

// drain delivers everything there is and flushes after each batch.
func drain(ctx context.Context, l *life, p *partition) error {
	for more := true; more; {
		more = false
		for _, topic := range l.Topics() {
			came, err := l.next(ctx, p, topic)
			if err == nil {
				err = p.flushOlder(ctx, 0)
			}
			if err != nil {
				return err
			}
			more = more || came
		}
	}
	return p.Revoked(ctx)
}

func comparePlaces(a, b Place) int {
	return cmp.Or(cmp.Compare(a.Topic, b.Topic), cmp.Compare(a.Partition, b.Partition))
}
