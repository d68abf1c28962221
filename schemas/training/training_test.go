package training

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"
)

func sample(step int32) Row {
	return Row{
		Role: RoleAgent, RolloutID: "r1", EnvID: "e1", GroupID: "g1", Arm: "plain", Iteration: 3, PolicyVersion: 4, Step: step, Seed: math.MaxUint64,
		Messages: []Message{{"user", "look\x00here"}, {"assistant", "go"}}, Choices: []string{"go", "stay"}, Completion: "go",
		TokenIDs: []int32{1, 2}, LossMask: []bool{true, false}, Logprobs: []float32{-0.5, -1}, Reward: 0.25, Advantage: -1.5,
	}
}

func build(t *testing.T, maxBytes int, rows ...Row) []arrow.Record {
	t.Helper()
	var out []arrow.Record
	b := NewBuilder(memory.DefaultAllocator, maxBytes, func(rec arrow.Record) error {
		rec.Retain()
		out = append(out, rec)
		return nil
	})
	defer b.Release()
	for i := range rows {
		if err := b.Append(&rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := b.Flush(); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestRowsComeBackEqual(t *testing.T) {
	bare := Row{Role: RoleDesigner, EnvID: "e2", Completion: "META = {}", Reward: 1}
	want := []Row{sample(0), bare, sample(1)}
	recs := build(t, 0, want...)
	if len(recs) != 1 {
		t.Fatalf("%d batches, want 1", len(recs))
	}
	v, err := NewView(recs[0])
	if err != nil {
		t.Fatal(err)
	}
	if v.Len() != len(want) {
		t.Fatalf("%d rows, want %d", v.Len(), len(want))
	}
	for i := range want {
		if got := v.Row(i); !reflect.DeepEqual(got, want[i]) {
			t.Errorf("row %d:\n got %+v\nwant %+v", i, got, want[i])
		}
	}
}

func TestBatchesAreCutByBytes(t *testing.T) {
	row := sample(0)
	row.Messages = []Message{{"user", strings.Repeat("x", 1000)}}
	rows := []Row{row, row, row, row, row}
	recs := build(t, 2500, rows...)
	if len(recs) != 3 {
		t.Fatalf("%d batches, want 3", len(recs))
	}
	total := int64(0)
	for _, rec := range recs {
		total += rec.NumRows()
	}
	if total != 5 {
		t.Fatalf("%d rows in all, want 5", total)
	}
}

func TestInvalidRowsAreRefused(t *testing.T) {
	cases := map[string]func(*Row){
		"role":      func(r *Row) { r.Role = "judge" },
		"logprobs":  func(r *Row) { r.Logprobs = r.Logprobs[:1] },
		"loss mask": func(r *Row) { r.LossMask = r.LossMask[:1] },
		"nan":       func(r *Row) { r.Reward = math.NaN() },
		"infinite":  func(r *Row) { r.Advantage = math.Inf(1) },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			b := NewBuilder(memory.DefaultAllocator, 0, func(arrow.Record) error { return nil })
			defer b.Release()
			r := sample(0)
			spoil(&r)
			if err := b.Append(&r); !errors.Is(err, ErrInvalidRow) {
				t.Fatalf("got %v, want ErrInvalidRow", err)
			}
		})
	}
}

func TestForeignSchemaIsRefused(t *testing.T) {
	sc := arrow.NewSchema([]arrow.Field{{Name: "role", Type: arrow.BinaryTypes.String}}, nil)
	rb := array.NewRecordBuilder(memory.DefaultAllocator, sc)
	defer rb.Release()
	rb.Field(0).(*array.StringBuilder).Append("agent")
	rec := rb.NewRecord()
	defer rec.Release()
	if _, err := NewView(rec); !errors.Is(err, ErrSchema) {
		t.Fatalf("got %v, want ErrSchema", err)
	}
}

func TestNullsAreRefused(t *testing.T) {
	rb := array.NewRecordBuilder(memory.DefaultAllocator, Schema())
	defer rb.Release()
	for i := range Schema().NumFields() {
		rb.Field(i).AppendEmptyValue()
	}
	rb.Field(0).AppendNull()
	for i := 1; i < Schema().NumFields(); i++ {
		rb.Field(i).AppendEmptyValue()
	}
	rec := rb.NewRecord()
	defer rec.Release()
	if _, err := NewView(rec); !errors.Is(err, ErrSchema) {
		t.Fatalf("got %v, want ErrSchema", err)
	}
}

func TestDigestIsOfTheContent(t *testing.T) {
	digest := func(rows ...Row) string {
		d, err := Digest(build(t, 0, rows...))
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	if first, again := digest(sample(0)), digest(sample(0)); first != again {
		t.Error("equal rows, other digest")
	}
	if digest(sample(0)) == digest(sample(1)) {
		t.Error("other rows, equal digest")
	}
}
