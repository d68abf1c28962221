package warehouse

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Kinds of text that an Embedder is asked about.
const (
	kindDocument = "document"
	kindCode     = "code"
)

// Texts are what a batch wants vectors of, with the built-in embedder. It is used by one goroutine.
type Texts struct {
	embedder Embedder // nil: no vectors are computed
	kinds    map[string]*texts
	count    int
}

// texts are to be embedded together.
type texts struct {
	list []string
	rows []*spadepb.EmbeddingComputed
	from []event.Event
}

// NewTexts makes an empty list. Nothing is ever added to it when there is no embedder.
func NewTexts(e Embedder) *Texts { return &Texts{embedder: e, kinds: map[string]*texts{}} }

// Note adds the text of an event that has one.
func (t *Texts) Note(ev *event.Event, msg proto.Message) {
	if t.embedder == nil {
		return
	}
	switch m := msg.(type) {
	case *spadepb.DocumentIngested:
		t.want(kindDocument, ev, m.GetText(), &spadepb.EmbeddingComputed{
			EntityId: m.GetDocumentId(), EntityKind: tables.EntityDocument,
		})
	case *spadepb.EnvironmentDesigned:
		t.want(kindCode, ev, m.GetCode(), &spadepb.EmbeddingComputed{
			EntityId: m.GetEnvId(), EntityKind: tables.EntityEnvironment, RunId: m.GetRunId(),
		})
	}
}

func (t *Texts) want(kind string, ev *event.Event, text string, row *spadepb.EmbeddingComputed) {
	of := t.kinds[kind]
	if of == nil {
		of = &texts{}
		t.kinds[kind] = of
	}
	of.list = append(of.list, text)
	of.rows = append(of.rows, row)
	of.from = append(of.from, event.Event{
		Topic: ev.Topic, ID: ev.ID, Time: ev.Time, Partition: ev.Partition, Offset: ev.Offset, LastOffset: ev.LastOffset,
	})
	t.count++
}

// Bytes is about what the vectors will take.
func (t *Texts) Bytes() int {
	if t.count == 0 {
		return 0
	}
	return t.count * 4 * t.embedder.Dim()
}

// Append computes the vectors, adds their rows to the set and empties the list.
func (t *Texts) Append(ctx context.Context, set *tables.Set) error {
	for _, kind := range []string{kindDocument, kindCode} {
		of := t.kinds[kind]
		if of == nil {
			continue
		}
		vectors, err := t.embedder.Embed(ctx, of.list, kind)
		if err != nil {
			return err
		}
		if len(vectors) != len(of.list) {
			return fmt.Errorf("embedder answered %d vectors to %d texts", len(vectors), len(of.list))
		}
		for i, row := range of.rows {
			row.Model, row.Dim, row.Vector = t.embedder.Model(), int32(len(vectors[i])), vectors[i]
			if err := set.AppendEmbedding(&of.from[i], row); err != nil {
				return err
			}
		}
		delete(t.kinds, kind)
	}
	t.count = 0
	return nil
}
