package warehouse

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"testing/synctest"

	"golang.org/x/sync/semaphore"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
)

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
