package tables

import (
	"fmt"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Kinds of entity that have an embedding.
const (
	EntityDocument    = "document"
	EntityEnvironment = "environment"
)

func (s *Set) documentIngested(ev *event.Event, m *spadepb.DocumentIngested) error {
	if err := checkIDs(m.GetDocumentId()); err != nil {
		return err
	}
	if err := checkOptional(m.GetParentId()); err != nil {
		return err
	}
	b := s.table(DocumentEvents)
	b.id(m.GetDocumentId())
	b.str("ingested")
	b.optID(m.GetParentId())
	b.i32(m.GetChunk())
	b.i32(m.GetChunks())
	b.str(m.GetSource())
	b.str(m.GetTitle())
	b.str(m.GetText())
	b.hex(m.GetSha256())
	b.str(m.GetMediaType())
	b.str("")
	b.end(ev, s.writer)
	return nil
}

func (s *Set) documentWithdrawn(ev *event.Event, m *spadepb.DocumentWithdrawn) error {
	if err := checkIDs(m.GetDocumentId()); err != nil {
		return err
	}
	b := s.table(DocumentEvents)
	b.id(m.GetDocumentId())
	b.str("withdrawn")
	b.null()
	b.i32(0)
	b.i32(0)
	b.str("")
	b.str("")
	b.str("")
	b.str("")
	b.str("")
	b.str(m.GetReason())
	b.end(ev, s.writer)
	return nil
}

func (s *Set) embeddingComputed(ev *event.Event, m *spadepb.EmbeddingComputed) error {
	if err := checkIDs(m.GetEntityId()); err != nil {
		return err
	}
	if err := checkOptional(m.GetRunId()); err != nil {
		return err
	}
	if int(m.GetDim()) != len(m.GetVector()) {
		return fmt.Errorf("a vector of %d components says it has %d: %w", len(m.GetVector()), m.GetDim(), ErrInvalid)
	}
	b := s.table(Embeddings)
	b.optID(m.GetRunId())
	b.id(m.GetEntityId())
	b.str(m.GetEntityKind())
	b.str(m.GetModel())
	b.i32(m.GetDim())
	b.vector(m.GetVector())
	b.end(ev, s.writer)
	return nil
}
