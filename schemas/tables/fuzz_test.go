package tables_test

import (
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// FuzzAppend: whatever a payload holds, it becomes whole rows or none, and never a panic.
func FuzzAppend(f *testing.F) {
	kinds := event.Kinds()
	for i, k := range kinds {
		_, msg := filled(k, 1)
		payload, err := proto.Marshal(msg)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(i, payload)
	}
	c := catalogue(f)
	f.Fuzz(func(t *testing.T, i int, payload []byte) {
		if i < 0 || i >= len(kinds) {
			return
		}
		msg, err := event.Unmarshal(kinds[i].Type, payload)
		if err != nil {
			return
		}
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		defer mem.AssertSize(t, 0)
		set := tables.NewSet(mem, c, 0)
		defer set.Release()
		ev := &event.Event{Topic: kinds[i].Topic, Type: kinds[i].Type, Key: fuzzKey(msg), Time: time.Unix(1, 0), LastOffset: 5}
		refused := set.Append(ev, msg) != nil
		whole, _ := filled(kinds[0], 5)
		if err := set.Append(whole, mustFill(kinds[0])); err != nil {
			t.Fatal(err)
		}
		blocks := set.Blocks()
		if refused && (len(blocks) != 1 || blocks[0].Record.NumRows() != 1) {
			t.Errorf("a refused %s left rows", kinds[i].Type)
		}
		for _, b := range blocks {
			for j, name := range b.Table.Inserted() {
				if n := b.Record.Column(j).Len(); int64(n) != b.Record.NumRows() {
					t.Errorf("%s.%s has %d values in %d rows", b.Table.Name, name, n, b.Record.NumRows())
				}
			}
			b.Record.Release()
		}
	})
}

func mustFill(k event.Kind) proto.Message {
	_, msg := filled(k, 5)
	return msg
}

// fuzzKey is the key that the ids of a payload make, as far as they are ids.
func fuzzKey(msg proto.Message) string {
	id := func(b []byte) uuid.UUID {
		u, err := uuid.FromBytes(b)
		if err != nil {
			return uuid.Nil
		}
		return u
	}
	switch m := msg.(type) {
	case interface{ GetEntityId() []byte }:
		return id(m.GetEntityId()).String()
	case interface{ GetDocumentId() []byte }:
		return id(m.GetDocumentId()).String()
	case interface {
		GetRunId() []byte
		GetEnvId() []byte
	}:
		return topics.EnvKey(id(m.GetRunId()), id(m.GetEnvId()))
	case interface{ GetRunId() []byte }:
		return id(m.GetRunId()).String()
	}
	return "topic/1"
}
