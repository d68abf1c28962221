package audit_test

import (
	"context"
	"testing"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/consumers/warehouse/audit"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

func TestMain(m *testing.M) {
	clickhousetest.Child()
	goleak.VerifyTestMain(m)
}

// log is events as an audit reads them.
type log []event.Event

func (l log) Read(_ context.Context, topic string, _, _ map[int32]int64, fn func(event.Event) error) error {
	for _, ev := range l {
		if ev.Topic != topic {
			continue
		}
		if err := fn(ev); err != nil {
			return err
		}
	}
	return nil
}

// TestAudit: a warehouse that holds the log has no differences; every way of not holding it shows.
func TestAudit(t *testing.T) {
	_, conn := olaptest.Start(t)
	story := olaptest.Story(t)
	var names []string
	for _, topic := range topics.All(1) {
		names = append(names, topic.Name)
	}
	differences := func(run uuid.UUID) []audit.Difference {
		t.Helper()
		want, err := audit.Log(t.Context(), append(log(story), story...), names, run, nil)
		if err != nil {
			t.Fatal(err)
		}
		got, err := audit.Warehouse(t.Context(), conn, run)
		if err != nil {
			t.Fatal(err)
		}
		return audit.Compare(want, got)
	}
	if got := differences(uuid.Nil); len(got) < 20 {
		t.Errorf("an empty warehouse has %d differences", len(got))
	}
	olaptest.Fill(t, conn, story)
	for _, run := range []uuid.UUID{uuid.Nil, olaptest.StoryRun()} {
		for _, d := range differences(run) {
			t.Error(d)
		}
	}
	for _, tc := range []struct {
		name, sql string
		log, have int64
	}{
		{"a missing row", "ALTER TABLE spade.iterations DELETE WHERE iteration = 0 SETTINGS mutations_sync = 1", 2, 1},
		{"a doubled row", "INSERT INTO spade.batches SELECT * FROM spade.batches WHERE iteration = 0", 2, 3},
		{"another value", "ALTER TABLE spade.evaluations UPDATE reward = 0.125 WHERE category = 'math' SETTINGS mutations_sync = 1", 4, 4},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := len(differences(olaptest.StoryRun()))
			if err := conn.Exec(t.Context(), tc.sql); err != nil {
				t.Fatal(err)
			}
			after := differences(olaptest.StoryRun())
			if len(after) != before+1 {
				t.Fatalf("%d differences, then %v", before, after)
			}
			for _, d := range after {
				if d.Log == tc.log && d.Warehouse == tc.have && d.String() != "" {
					return
				}
			}
			t.Errorf("differences %v", after)
		})
	}
	wantError(t, conn)
}

// wantError: a server that does not have the tables is no empty warehouse.
func wantError(t *testing.T, conn olap.Conn) {
	t.Helper()
	if err := conn.Exec(t.Context(), "DROP TABLE spade.steps"); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Warehouse(t.Context(), conn, uuid.Nil); olap.Code(err) != olap.CodeUnknownTable {
		t.Errorf("error %v", err)
	}
}
