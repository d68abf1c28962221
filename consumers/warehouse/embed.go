package warehouse

import (
	"context"
	"fmt"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Kinds of text that an Embedder is asked about.
const (
	kindDocument = "document"
	kindCode     = "code"
)

// texts are to be embedded together.
type texts struct {
	list []string
	rows []*spadepb.EmbeddingComputed
	from []*event.Event
}

// want asks for the vector of a text, where the sink computes vectors.
func (c *conversion) want(kind string, ev *event.Event, text string, row *spadepb.EmbeddingComputed) {
	if c.lane.part.sink.set.Embedder == nil {
		return
	}
	t := c.texts[kind]
	if t == nil {
		t = &texts{}
		c.texts[kind] = t
	}
	t.list = append(t.list, text)
	t.rows = append(t.rows, row)
	t.from = append(t.from, ev)
}

// embeddingBytes is about what the vectors that were asked for will take.
func (c *conversion) embeddingBytes() int {
	n := 0
	for _, t := range c.texts {
		n += len(t.list) * 4 * c.lane.part.sink.set.Embedder.Dim()
	}
	return n
}

// embed adds the rows of the vectors that were asked for.
func (c *conversion) embed(ctx context.Context) error {
	for _, kind := range []string{kindDocument, kindCode} {
		t := c.texts[kind]
		if t == nil {
			continue
		}
		e := c.lane.part.sink.set.Embedder
		var vectors [][]float32
		err := c.lane.part.retry(ctx, "embed", func(ctx context.Context) (err error) {
			vectors, err = e.Embed(ctx, t.list, kind)
			return err
		})
		if err != nil {
			return err
		}
		if len(vectors) != len(t.list) {
			return fmt.Errorf("embedder answered %d vectors to %d texts", len(vectors), len(t.list))
		}
		for i, row := range t.rows {
			row.Model, row.Dim, row.Vector = e.Model(), int32(len(vectors[i])), vectors[i]
			if err := c.set.AppendEmbedding(t.from[i], row); err != nil {
				return err
			}
		}
	}
	return nil
}
