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

	designs map[uuid.UUID]design   // designed and not ended
	ended   map[uuid.UUID]struct{} // so that a repeated design does not open again

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
	offset  int64
	checked bool // the store had no point of it
}

// abandonedAfter is the number of records of a partition after which a design
// that has not ended is taken for abandoned.
const abandonedAfter = 10_000

func newProcessor(m *Memory, claim committer) *processor {
	return &processor{
		m: m, claim: claim, next: map[string]int64{},
		designs: map[uuid.UUID]design{}, ended: map[uuid.UUID]struct{}{},
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
	return p.commit()
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
		p.end(uuid.UUID(msg.GetEnvId()))
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
	if _, over := p.ended[env]; over {
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
	if _, over := p.ended[env]; over {
		return
	}
	d, ok := p.designs[env]
	if !ok {
		p.orphans = append(p.orphans, ev)
		return
	}
	p.end(env)
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

func (p *processor) end(env uuid.UUID) {
	delete(p.designs, env)
	p.ended[env] = struct{}{}
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
		p.early[entity] = early{vector: msg.GetVector(), kind: kind, offset: ev.Offset}
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
		needed[topics.Documents] = append(needed[topics.Documents], e.offset)
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
