package audit_test

import (
	"context"
	"strings"
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

// TestCompare: a warehouse that holds the log has no differences; every way of not holding it shows.
func TestCompare(t *testing.T) {
	_, conn := olaptest.Start(t)
	story := olaptest.Story(t)
	var names []string
	for _, topic := range topics.All(1) {
		names = append(names, topic.Name)
	}
	differences := func(run uuid.UUID) []audit.RowDifference {
		t.Helper()
		ledger, found, err := audit.Compare(t.Context(), append(log(story), story...), names, conn, audit.Settings{Run: run})
		if err != nil {
			t.Fatal(err)
		}
		ledger.Release()
		if n := len(ledger.Differing()); (n == 0) != (len(found) == 0) {
			t.Errorf("%d keys differ, and %d rows", n, len(found))
		}
		return found
	}
	empty := differences(uuid.Nil)
	if len(empty) < 60 {
		t.Errorf("an empty warehouse has %d differences", len(empty))
	}
	for _, d := range empty {
		if d.Kind != audit.Missing {
			t.Error(d)
		}
	}
	olaptest.Fill(t, conn, story)
	for _, run := range []uuid.UUID{uuid.Nil, olaptest.StoryRun()} {
		for _, d := range differences(run) {
			t.Error(d)
		}
	}
	for _, tc := range []struct {
		name, sql         string
		table, kind, text string
		n                 int
	}{
		{
			"a missing row", "ALTER TABLE spade.iterations DELETE WHERE iteration = 0 SETTINGS mutations_sync = 1",
			"iterations", audit.Missing, "spade.runs/0 at", 1,
		},
		{
			"a doubled row", "INSERT INTO spade.batches SELECT * FROM spade.batches WHERE iteration = 0",
			"batches", audit.Doubled, "spade.policies/0 at", 1,
		},
		{
			"a row doubled with another value",
			"INSERT INTO spade.advantages SELECT * REPLACE (9 AS advantage) FROM spade.advantages ORDER BY rollout_id LIMIT 1",
			"advantages", audit.Doubled, "", 1,
		},
		{
			"a phantom row", "INSERT INTO spade.rollouts SELECT * REPLACE (generateUUIDv4() AS event_id) FROM spade.rollouts LIMIT 1",
			"rollouts", audit.Phantom, "", 1,
		},
		{
			"another value", "ALTER TABLE spade.evaluations UPDATE reward = 0.125 WHERE category = 'math' SETTINGS mutations_sync = 1",
			"evaluations", audit.Changed, `reward is "0.125" in the warehouse, "0.25" in the log`, 2,
		},
		{
			"another list", "ALTER TABLE spade.policy_events UPDATE roles = ['agent'] WHERE policy_from = 0 SETTINGS mutations_sync = 1",
			"policy_events", audit.Changed, `roles is "[\"agent\"]" in the warehouse`, 1,
		},
		{
			"a text changed far inside", "ALTER TABLE spade.steps UPDATE observation = concat(repeat('x', 500), 'y') WHERE step = 1 AND arm = 'hinted' AND " +
				"rollout_id IN (SELECT min(rollout_id) FROM spade.steps WHERE arm = 'hinted') SETTINGS mutations_sync = 1",
			"steps", audit.Changed, "observation is", 1,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			before := len(differences(olaptest.StoryRun()))
			if err := conn.Exec(t.Context(), tc.sql); err != nil {
				t.Fatal(err)
			}
			after := differences(olaptest.StoryRun())
			if len(after) != before+tc.n {
				t.Fatalf("%d differences, then %v", before, after)
			}
			for _, d := range after {
				if d.Table == tc.table && d.Kind == tc.kind && strings.Contains(d.String(), tc.text) {
					return
				}
			}
			t.Errorf("differences %v", after)
		})
	}
	wantError(t, conn)
}

// TestOnlyWhatTheWarehouseHasComeToIsCompared: rows of later records are neither missing nor too many.
func TestOnlyWhatTheWarehouseHasComeToIsCompared(t *testing.T) {
	_, conn := olaptest.Start(t)
	story := olaptest.Story(t)
	var held []event.Event
	ends := audit.Positions{}
	for _, topic := range topics.All(1) {
		ends[topic.Name] = map[int32]int64{0: 3}
	}
	for _, ev := range story {
		if ev.LastOffset < 5 {
			held = append(held, ev)
		}
	}
	olaptest.Fill(t, conn, held)
	var names []string
	for _, topic := range topics.All(1) {
		names = append(names, topic.Name)
	}
	ledger, found, err := audit.Compare(t.Context(), log(story), names, conn, audit.Settings{Ends: ends})
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Release()
	for _, d := range found {
		t.Error(d)
	}
	if got := ledger.Later()[topics.Rollouts][0]; got != 4 {
		t.Errorf("the last record behind the end is %d", got)
	}
	if len(ledger.Counts()) < 10 || ledger.Keys() < 3 {
		t.Errorf("%d tables, %d keys", len(ledger.Counts()), ledger.Keys())
	}
}

// wantError: a server that does not have the tables is no empty warehouse.
func wantError(t *testing.T, conn olap.Conn) {
	t.Helper()
	if err := conn.Exec(t.Context(), "DROP TABLE spade.steps"); err != nil {
		t.Fatal(err)
	}
	if _, _, err := audit.Compare(t.Context(), log(nil), nil, conn, audit.Settings{}); olap.Code(err) != olap.CodeUnknownTable {
		t.Errorf("error %v", err)
	}
}
