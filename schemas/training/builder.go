package training

import (
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

// DefaultMaxBytes cuts batches well below the 2 GiB at which a String column cannot grow any more.
const DefaultMaxBytes = 64 << 20

// maxRowBytes is the largest single row: it alone may exceed the cut, but not the offsets of a String column.
const maxRowBytes = 1 << 30

// Message is one message of a prompt.
type Message struct{ Role, Content string }

// Row is one decision. Slices are copied by Append and may be reused.
type Row struct {
	Role, RolloutID, EnvID, GroupID, Arm string
	Iteration                            int32
	PolicyVersion                        int64
	Step                                 int32
	Seed                                 uint64
	Messages                             []Message
	Choices                              []string
	Completion                           string
	TokenIDs                             []int32
	LossMask                             []bool
	Logprobs                             []float32
	Reward, Advantage                    float64
}

// Builder collects rows and hands out record batches of at most about maxBytes of values. It is not safe for concurrent use.
type Builder struct {
	rb       *array.RecordBuilder
	maxBytes int
	bytes    int
	rows     int
	emit     func(arrow.Record) error
}

// NewBuilder returns a builder that calls emit with each full batch. emit must Retain the record to keep it past the call.
// maxBytes of zero means DefaultMaxBytes. Release must be called once.
func NewBuilder(mem memory.Allocator, maxBytes int, emit func(arrow.Record) error) *Builder {
	if maxBytes <= 0 {
		maxBytes = DefaultMaxBytes
	}
	return &Builder{rb: array.NewRecordBuilder(mem, Schema()), maxBytes: maxBytes, emit: emit}
}

// Append adds one row; a batch that would grow past the limit is emitted first.
func (b *Builder) Append(r *Row) error {
	if err := r.check(); err != nil {
		return err
	}
	size := r.size()
	if b.rows > 0 && b.bytes+size > b.maxBytes {
		if err := b.Flush(); err != nil {
			return err
		}
	}
	b.appendScalars(r)
	b.appendLists(r)
	b.bytes += size
	b.rows++
	return nil
}

// Flush emits what has been collected, if anything.
func (b *Builder) Flush() error {
	if b.rows == 0 {
		return nil
	}
	rec := b.rb.NewRecord()
	defer rec.Release()
	b.rows, b.bytes = 0, 0
	if err := b.emit(rec); err != nil {
		return fmt.Errorf("emit training batch: %w", err)
	}
	return nil
}

// Release frees the builder's memory. Rows that were not flushed are lost.
func (b *Builder) Release() { b.rb.Release() }

func (b *Builder) str(i int, v string) { b.rb.Field(i).(*array.StringBuilder).Append(v) }

func (b *Builder) appendScalars(r *Row) {
	b.str(0, r.Role)
	b.str(1, r.RolloutID)
	b.str(2, r.EnvID)
	b.str(3, r.GroupID)
	b.str(4, r.Arm)
	b.rb.Field(5).(*array.Int32Builder).Append(r.Iteration)
	b.rb.Field(6).(*array.Int64Builder).Append(r.PolicyVersion)
	b.rb.Field(7).(*array.Int32Builder).Append(r.Step)
	b.rb.Field(8).(*array.Uint64Builder).Append(r.Seed)
	b.str(11, r.Completion)
	b.rb.Field(15).(*array.Float64Builder).Append(r.Reward)
	b.rb.Field(16).(*array.Float64Builder).Append(r.Advantage)
}

func (b *Builder) appendLists(r *Row) {
	list := func(i int) (*array.ListBuilder, array.Builder) {
		lb := b.rb.Field(i).(*array.ListBuilder)
		lb.Append(true)
		return lb, lb.ValueBuilder()
	}
	_, mv := list(9)
	ms := mv.(*array.StructBuilder)
	for i := range r.Messages {
		ms.Append(true)
		ms.FieldBuilder(0).(*array.StringBuilder).Append(r.Messages[i].Role)
		ms.FieldBuilder(1).(*array.StringBuilder).Append(r.Messages[i].Content)
	}
	_, cv := list(10)
	for _, c := range r.Choices {
		cv.(*array.StringBuilder).Append(c)
	}
	_, tv := list(12)
	tv.(*array.Int32Builder).AppendValues(r.TokenIDs, nil)
	_, lv := list(13)
	lv.(*array.BooleanBuilder).AppendValues(r.LossMask, nil)
	_, pv := list(14)
	pv.(*array.Float32Builder).AppendValues(r.Logprobs, nil)
}
