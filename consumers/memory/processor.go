package memory

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// committer is the part of a claim that a processor uses.
type committer interface {
	Commit(topic string, next int64) error
}

// processor projects one partition number of both topics. It is used by one
// goroutine.
type processor struct {
	m     *Memory
	claim committer
	next  map[string]int64 // after what was delivered, by topic
	ids   map[string]uuid.UUID

	designs map[uuid.UUID]design // designed and not ended
	ended   ended

	// ready and withdrawn are written at the end of the batch.
	ready     []entry
	withdrawn []withdrawal
	// orphans are acceptances whose design was not read: those of things that have their point are repeats of a record
	// that was projected before a restart, the others can never be projected.
	orphans []event.Event
	// The following serve Settings.Keep: what waits for its vector to be read, and
	// vectors that were read before the thing they belong to.
	waiting map[uuid.UUID]*entry
	early   map[uuid.UUID]early
}

var _ bus.Processor = (*processor)(nil)

// design is what is kept of an EnvironmentDesigned until it ends.
type design struct {
	msg    *spadepb.EnvironmentDesigned
	offset int64
}

// entry is a point to be: everything but, perhaps, its vector.
type entry struct {
	entity  uuid.UUID
	run     []byte // of an environment
	kind    embedding.Kind
	text    string
	vector  []float32
	payload map[string]any
	topic   string
	offset  int64 // must not be committed past before the point is written
	asked   bool  // the endpoint has answered, and the answer was appended
	event   event.Event
}

type withdrawal struct {
	document uuid.UUID
	offset   int64
}

// early is a vector that was read before the thing it belongs to.
type early struct {
	vector  []float32
	kind    embedding.Kind
	event   event.Event
	checked bool // the store had no point of it
}

// abandonedAfter is the number of records of a partition after which a design
// that has not ended is taken for abandoned, a vector for one of nothing, and
// an end is forgotten.
const abandonedAfter = 10_000

// ended are the environments that ended not long ago, so that a repeated design
// does not open again. One that comes later opens, and is abandoned in its time.
type ended struct {
	at    map[uuid.UUID]int64
	order []uuid.UUID // by offset
}

func (e *ended) add(env uuid.UUID, offset int64) {
	if _, known := e.at[env]; !known {
		e.at[env] = offset
		e.order = append(e.order, env)
	}
	for len(e.order) > 0 && offset-e.at[e.order[0]] > abandonedAfter {
		delete(e.at, e.order[0])
		e.order = e.order[1:]
	}
}

func (e *ended) has(env uuid.UUID) bool {
	_, ok := e.at[env]
	return ok
}

func newProcessor(m *Memory, claim committer) *processor {
	return &processor{
		m: m, claim: claim, next: map[string]int64{},
		designs: map[uuid.UUID]design{}, ended: ended{at: map[uuid.UUID]int64{}},
		waiting: map[uuid.UUID]*entry{}, early: map[uuid.UUID]early{},
	}
}

// Process folds a batch, writes the points that follow from it, and commits.
func (p *processor) Process(ctx context.Context, b bus.Batch) error {
	if err := p.same(ctx, b.Topic); err != nil {
		return err
	}
	for _, ev := range b.Events {
		if err := p.fold(ev); err != nil {
			if err := p.m.set.Poison.Event(ctx, ev, err); err != nil {
				return err
			}
		}
	}
	p.next[b.Topic] = b.Next
	if err := p.flush(ctx); err != nil {
		return err
	}
	if err := p.judgeOrphans(ctx); err != nil {
		return err
	}
	if err := p.abandonEarly(ctx, b.Topic == topics.Environments && b.Next >= b.End); err != nil {
		return err
	}
	return p.commit()
}

// abandonEarly keeps the vectors of what there is not as dead letters. What a vector belongs to was appended before it: a document
// to the same partition, an environment to the other topic, which has been read to its end when all is true.
func (p *processor) abandonEarly(ctx context.Context, all bool) error {
	for entity, e := range p.early {
		if p.next[topics.Documents]-e.event.Offset <= abandonedAfter || e.kind == embedding.Code && !all {
			continue
		}
		if err := p.m.set.Poison.Event(ctx, e.event, fmt.Errorf("a vector of %s %s, which is not in the log", e.kind, entity)); err != nil {
			return err
		}
		delete(p.early, entity)
	}
	return nil
}

// same makes sure that a topic is still the one that the partition was opened on. The offsets of one that was made again begin
// at 0: going on would pass over its first events.
func (p *processor) same(ctx context.Context, topic string) error {
	was, known := p.ids[topic]
	if !known {
		return nil
	}
	ids, err := p.m.set.Identify(ctx, topic)
	if err != nil {
		return err
	}
	if is := ids[topic]; is != was {
		return fmt.Errorf("%w: %s had the id %s and has %s; start again to read it from its beginning, and spade rebuild --memory "+
			"to forget what only the old one held", ErrMadeAgain, topic, was, is)
	}
	return nil
}

// fold takes in one event. An error means that the event can never be
// projected.
func (p *processor) fold(ev event.Event) error {
	msg, err := ev.Message()
	if err != nil {
		return err
	}
	switch msg := msg.(type) {
	case *spadepb.EnvironmentDesigned:
		p.designed(ev, msg)
	case *spadepb.EnvironmentAccepted:
		p.accepted(ev, msg)
	case *spadepb.EnvironmentRejected:
		p.end(uuid.UUID(msg.GetEnvId()), ev.Offset)
	case *spadepb.DocumentIngested:
		p.add(documentEntry(ev, msg))
	case *spadepb.DocumentWithdrawn:
		p.withdrawn = append(p.withdrawn, withdrawal{uuid.UUID(msg.GetDocumentId()), ev.Offset})
	case *spadepb.EmbeddingComputed:
		return p.embedded(ev, msg)
	}
	return nil
}

func (p *processor) designed(ev event.Event, msg *spadepb.EnvironmentDesigned) {
	env := uuid.UUID(msg.GetEnvId())
	if p.ended.has(env) {
		return
	}
	if _, known := p.designs[env]; !known {
		p.designs[env] = design{msg: msg, offset: ev.Offset}
	}
	for env, d := range p.designs {
		if ev.Offset-d.offset > abandonedAfter {
			p.m.set.Logger.Warn("a design never ended", "env_id", env, "offset", d.offset)
			delete(p.designs, env)
		}
	}
}

func (p *processor) accepted(ev event.Event, msg *spadepb.EnvironmentAccepted) {
	env := uuid.UUID(msg.GetEnvId())
	if p.ended.has(env) {
		return
	}
	d, ok := p.designs[env]
	if !ok {
		p.orphans = append(p.orphans, ev)
		return
	}
	p.end(env, ev.Offset)
	p.add(environmentEntry(ev, d, msg))
}

// judgeOrphans keeps the acceptances that can never be projected as dead letters.
func (p *processor) judgeOrphans(ctx context.Context) error {
	if len(p.orphans) == 0 {
		return nil
	}
	envs := make([]uuid.UUID, len(p.orphans))
	points := make([]uuid.UUID, len(p.orphans))
	for i, ev := range p.orphans {
		msg, err := ev.Message()
		if err != nil {
			return err
		}
		envs[i] = uuid.UUID(msg.(*spadepb.EnvironmentAccepted).GetEnvId())
		points[i] = environmentPoint(envs[i])
	}
	there, err := p.m.set.Store.Exists(ctx, p.m.environments.Name, points...)
	if err != nil {
		return err
	}
	for i, ev := range p.orphans {
		if there[points[i]] {
			continue
		}
		reason := fmt.Errorf("environment %s is accepted without its design before it", envs[i])
		if err := p.m.set.Poison.Event(ctx, ev, reason); err != nil {
			return err
		}
	}
	p.orphans = nil
	return nil
}

func (p *processor) end(env uuid.UUID, offset int64) {
	delete(p.designs, env)
	p.ended.add(env, offset)
}

// add queues a point, for now or for when its vector is read.
func (p *processor) add(e entry) {
	if !p.m.set.Keep {
		p.ready = append(p.ready, e)
		return
	}
	if v, ok := p.early[e.entity]; ok {
		delete(p.early, e.entity)
		e.vector = v.vector
		p.ready = append(p.ready, e)
		return
	}
	if p.waiting[e.entity] == nil {
		p.waiting[e.entity] = &e
	}
}

func (p *processor) embedded(ev event.Event, msg *spadepb.EmbeddingComputed) error {
	e := p.m.set.Embedder
	if !p.m.set.Keep || msg.GetModel() != e.Model() {
		return nil
	}
	if len(msg.GetVector()) != e.Dim() {
		return &vector.DimensionError{Collection: "embeddings of " + e.Model(), Want: e.Dim(), Got: len(msg.GetVector())}
	}
	entity := uuid.UUID(msg.GetEntityId())
	if w := p.waiting[entity]; w != nil {
		delete(p.waiting, entity)
		w.vector = msg.GetVector()
		p.ready = append(p.ready, *w)
		return nil
	}
	if _, known := p.early[entity]; !known {
		kind := embedding.Document
		if msg.GetEntityKind() == environmentKind {
			kind = embedding.Code
		}
		p.early[entity] = early{vector: msg.GetVector(), kind: kind, event: ev}
	}
	return nil
}

// Idle asks the endpoint for the vectors that the log does not have.
func (p *processor) Idle(ctx context.Context) error {
	if len(p.waiting) == 0 {
		return nil
	}
	return p.askEndpoint(ctx)
}

// Revoked has nothing to do: every batch ends with its commit.
func (p *processor) Revoked(context.Context) error { return nil }

// Lost has nothing to undo: the points that were written are right.
func (p *processor) Lost() {}

// commit commits both topics up to the oldest record that is still needed.
func (p *processor) commit() error {
	needed := map[string][]int64{}
	for _, d := range p.designs {
		needed[topics.Environments] = append(needed[topics.Environments], d.offset)
	}
	for _, w := range p.waiting {
		needed[w.topic] = append(needed[w.topic], w.offset)
	}
	for _, e := range p.early {
		needed[topics.Documents] = append(needed[topics.Documents], e.event.Offset)
	}
	for topic, next := range p.next {
		if at := needed[topic]; len(at) > 0 {
			next = min(next, slices.Min(at))
		}
		if err := p.claim.Commit(topic, next); err != nil {
			return err
		}
	}
	return nil
}
