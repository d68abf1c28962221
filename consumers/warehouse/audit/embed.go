package audit

import (
	"context"
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
)

// computed is the row of the vector that the sink computes for a text; nil when it computes none.
func computed(ctx context.Context, e Embedder, msg proto.Message) (*spadepb.EmbeddingComputed, error) {
	if e == nil {
		return nil, nil //nolint:nilnil // no row
	}
	row := &spadepb.EmbeddingComputed{Model: e.Model()}
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
	vectors, err := e.Embed(ctx, []string{text}, kind)
	if err != nil {
		return nil, fmt.Errorf("embed: %w", err)
	}
	row.Vector, row.Dim = vectors[0], int32(len(vectors[0]))
	return row, nil
}
