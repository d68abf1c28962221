package audit

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Reader is what an audit needs of the log; *bus.Client is one.
type Reader interface {
	Read(ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Event) error) error
}

// Embedder is the sink's.
type Embedder interface {
	Model() string
	Dim() int
	Embed(ctx context.Context, texts []string, kind string) ([][]float32, error)
}

// Log folds the log into what the warehouse should hold. With a run, only its events count. embedder is the one the sink
// was given, or nil.
func Log(ctx context.Context, r Reader, names []string, run uuid.UUID, embedder Embedder) (Tallies, error) {
	catalogue, err := tables.New()
	if err != nil {
		return nil, err
	}
	f := &fold{
		ctx: ctx, out: Tallies{}, run: run, embedder: embedder, catalogue: catalogue,
		set: tables.NewSet(memory.DefaultAllocator, catalogue, 0), withdrawn: map[uuid.UUID]int64{},
	}
	defer f.set.Release()
	for _, name := range names {
		if err := f.flush(); err != nil {
			return nil, err
		}
		if name == topics.Documents {
			f.seen = map[place]bool{}
			if err := r.Read(ctx, name, nil, nil, f.withdrawals); err != nil {
				return nil, err
			}
			f.discard()
		}
		f.seen = map[place]bool{}
		if err := r.Read(ctx, name, nil, nil, f.add); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
	}
	return f.out, f.flush()
}

// place is an event id in a partition: there its first record that can become rows wins.
type place struct {
	partition int32
	id        uuid.UUID
}

type fold struct {
	ctx       context.Context //nolint:containedctx // of the one call that the fold lives for
	out       Tallies
	run       uuid.UUID
	embedder  Embedder
	catalogue *tables.Catalogue
	set       *tables.Set
	seen      map[place]bool
	withdrawn map[uuid.UUID]int64 // offset of the last withdrawal by document
}

// withdrawals notes what will be withdrawn, before the documents are read.
func (f *fold) withdrawals(ev event.Event) error {
	at := place{ev.Partition, ev.ID}
	msg, err := ev.Message()
	if err != nil || f.seen[at] || f.set.Append(&ev, msg) != nil {
		return nil //nolint:nilerr // it has no rows
	}
	f.seen[at] = true
	if m, ok := msg.(*spadepb.DocumentWithdrawn); ok {
		f.withdrawn[uuid.UUID(m.GetDocumentId())] = ev.LastOffset
	}
	if f.set.Bytes() > tables.MaxBlockBytes {
		f.discard()
	}
	return nil
}

// discard empties the set without looking at it.
func (f *fold) discard() {
	for _, b := range f.set.Blocks() {
		b.Record.Release()
	}
}

func (f *fold) add(ev event.Event) error {
	if f.run != uuid.Nil && !topics.OfRun(ev.Key, f.run) {
		return nil
	}
	at := place{ev.Partition, ev.ID}
	if f.seen[at] {
		return nil
	}
	msg, err := ev.Message()
	if err != nil {
		return nil //nolint:nilerr // what cannot be decoded has no rows
	}
	vector, err := f.vector(msg)
	if err != nil {
		return err
	}
	if m, ok := msg.(*spadepb.DocumentIngested); ok && len(m.GetDocumentId()) == 16 &&
		f.withdrawn[uuid.UUID(m.GetDocumentId())] > ev.LastOffset {
		m.Text = ""
	}
	if err := f.set.Append(&ev, msg); err != nil {
		return nil //nolint:nilerr // it went to the dead letters
	}
	f.seen[at] = true
	if vector != nil {
		if err := f.set.AppendEmbedding(&ev, vector); err != nil {
			return err
		}
	}
	if f.set.Bytes() < tables.MaxBlockBytes {
		return nil
	}
	return f.flush()
}

// vector is the row that the sink computes for a text.
func (f *fold) vector(msg proto.Message) (*spadepb.EmbeddingComputed, error) {
	if f.embedder == nil {
		return nil, nil //nolint:nilnil // no row
	}
	row := &spadepb.EmbeddingComputed{Model: f.embedder.Model()}
	var text, kind string
	switch m := msg.(type) {
	case *spadepb.DocumentIngested:
		text, kind = m.GetText(), "document"
		row.EntityId, row.EntityKind = m.GetDocumentId(), tables.EntityDocument
	case *spadepb.EnvironmentDesigned:
		text, kind = m.GetCode(), "code"
		row.EntityId, row.EntityKind, row.RunId = m.GetEnvId(), tables.EntityEnvironment, m.GetRunId()
	default:
		return nil, nil //nolint:nilnil // no row
	}
	vectors, err := f.embedder.Embed(f.ctx, []string{text}, kind)
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	row.Vector, row.Dim = vectors[0], int32(len(vectors[0]))
	return row, nil
}

func (f *fold) flush() error {
	for _, b := range f.set.Blocks() {
		err := f.out.tally(b.Table, b.Record)
		b.Record.Release()
		if err != nil {
			return err
		}
	}
	return nil
}
