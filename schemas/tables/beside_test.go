package tables

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// breakColumn makes a column panic until the result is called.
func breakColumn(s *Set, table string, column int) (restore func()) {
	b := s.builders[table]
	whole := b.fields
	b.fields = slices.Clone(whole)
	b.fields[column] = nil
	return func() { b.fields = whole }
}

// An event whose conversion panics leaves nothing behind, and the rows before and after it are whole.
func TestAConversionThatPanicsLeavesNoRows(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	c, err := New()
	if err != nil {
		t.Fatal(err)
	}
	set := NewStampedSet(mem, c, time.Unix(1_700_000_000, 0))
	defer set.Release()
	run, env := uuid.New(), uuid.New()
	rollout := func(steps ...*spadepb.Step) error {
		id := uuid.New()
		payload, err := proto.Marshal(&spadepb.RolloutCompleted{RunId: run[:], EnvId: env[:], RolloutId: id[:], Steps: steps})
		if err != nil {
			t.Fatal(err)
		}
		_, err = set.AppendSafely(&event.Event{
			Topic: "spade.rollouts", Key: run.String() + "/" + env.String(), ID: uuid.New(), Type: "spade.v1.RolloutCompleted",
			Time: time.Unix(1, 0), Payload: payload,
		})
		return err
	}
	step := &spadepb.Step{Observation: "o", Action: "a"}
	for range 3 {
		if err := rollout(step, step); err != nil {
			t.Fatal(err)
		}
	}
	restore := breakColumn(set, Steps, 8)
	var p *PanicError
	if err := rollout(step, step, step, step); !errors.As(err, &p) || !strings.Contains(err.Error(), "panicked") {
		t.Fatalf("error %v", err)
	}
	restore()
	if err := rollout(step); err != nil {
		t.Fatal(err)
	}
	rows := map[string]int64{}
	for _, b := range set.Blocks() {
		rows[b.Table.Name] += b.Record.NumRows()
		if name := b.Record.Schema().Field(int(b.Record.NumCols()) - 1).Name; name != "ingested_at" {
			t.Errorf("%s ends with %s", b.Table.Name, name)
		}
		b.Record.Release()
	}
	if rows[Rollouts] != 4 || rows[Steps] != 7 {
		t.Errorf("rows %v", rows)
	}
	if set.TotalBytes() != 0 {
		t.Errorf("%d bytes are left", set.TotalBytes())
	}
}
