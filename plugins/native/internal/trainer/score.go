package trainer

import (
	"context"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/native/internal/agent"
	"github.com/seed256f7767/spade/schemas/training"
)

// Score gives the log-probability that a version gives each answer.
func (t *Trainer) Score(_ context.Context, version int64, batches plugins.Batches, emit func(arrow.Record) error) error {
	s, err := t.get(version)
	if err != nil {
		return err
	}
	sc := arrow.NewSchema([]arrow.Field{{Name: "logprob", Type: arrow.PrimitiveTypes.Float64}}, nil)
	for rec, err := range batches {
		if err != nil {
			return err
		}
		v, err := training.NewView(rec)
		if err != nil {
			return &plugins.InvalidBatchError{Row: -1, Message: err.Error()}
		}
		rb := array.NewRecordBuilder(memory.DefaultAllocator, sc)
		for i := range v.Len() {
			row := v.Row(i)
			rb.Field(0).(*array.Float64Builder).Append(s.logprob(&row))
		}
		out := rb.NewRecord()
		err = emit(out)
		out.Release()
		rb.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *state) logprob(row *training.Row) float64 {
	if row.Role == training.RoleDesigner {
		return s.designer.Logprob(row.TokenIDs)
	}
	chosen := slices.Index(row.Choices, row.Completion)
	if chosen < 0 {
		return 0
	}
	ms := make([]agent.Message, len(row.Messages))
	for i, m := range row.Messages {
		ms[i] = agent.Message{Role: m.Role, Content: m.Content}
	}
	return s.agent.Logprob(ms, row.Choices, chosen)
}
