package warehouse

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

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
