//go:build linux

package chaos

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
)

// judged is what a table of the warehouse holds, as the oracle knows it: not by the code that fills it.
type judged struct {
	types []string // of the events that have rows in it
	row   string   // columns that tell an event's rows apart; empty: it has one
	some  bool     // an event may have none
}

// judgedTables are those of the warehouse.
func judgedTables() map[string]judged {
	return map[string]judged{
		"run_events":      {types: []string{"RunStarted", "RunResumed", "RunFinished"}},
		"iterations":      {types: []string{"IterationClosed"}},
		"document_events": {types: []string{"DocumentIngested", "DocumentWithdrawn"}},
		// The worlds have the built-in embedder, whose vectors the sink computes from the text.
		"embeddings":            {types: []string{"DocumentIngested", "EnvironmentDesigned", "EmbeddingComputed"}},
		"design_requests":       {types: []string{"DesignRequested"}},
		"environment_events":    {types: []string{"EnvironmentDesigned", "EnvironmentAccepted", "EnvironmentRejected"}},
		"environment_documents": {types: []string{"EnvironmentDesigned"}, row: "rank", some: true},
		"neighbours":            {types: []string{"EnvironmentDesigned", "EnvironmentAccepted", "EnvironmentRejected"}, row: "used_for, rank", some: true},
		"rollouts":              {types: []string{"RolloutCompleted"}},
		"dropped_rollouts":      {types: []string{"RolloutDropped"}},
		"steps":                 {types: []string{"RolloutCompleted"}, row: "step", some: true},
		"regrets":               {types: []string{"RegretEstimated", "RegretUnavailable"}, row: "estimator"},
		"designer_rewards":      {types: []string{"DesignerRewarded"}},
		"batches":               {types: []string{"BatchBuilt"}},
		"advantages":            {types: []string{"BatchBuilt"}, row: "env_id, rollout_id", some: true},
		"policy_events":         {types: []string{"PolicyUpdated"}},
		"evaluations":           {types: []string{"EvaluationCompleted"}},
		"replay_checks":         {types: []string{"ReplayChecked"}},
		"dead_letters":          {types: []string{"DeadLetter"}},
	}
}

// judgeTables compares every table with the log, also one of whose events the log holds none.
func (w *world) judgeTables(l *logged) {
	there, err := w.tableNames()
	if err != nil {
		w.problem("list the tables: %v", err)
		return
	}
	all := judgedTables()
	for _, table := range there {
		if _, known := all[table]; !known {
			w.problem("table %s is judged by nobody", table)
		}
	}
	for _, table := range slices.Sorted(maps.Keys(all)) {
		j := all[table]
		got, err := w.count(j.query(table))
		if err != nil {
			w.problem("read %s: %v", table, err)
			continue
		}
		if text := j.compare(l.events, got); text != "" {
			w.problem("%s: %s", table, text)
		}
		w.log.add("%s holds %d events", table, len(got))
	}
	for name, n := range unjudged(l.events) {
		w.problem("%d events of type %s are judged by nobody", n, name)
	}
}

// tableNames are the tables of events that the warehouse has.
func (w *world) tableNames() (names []string, err error) {
	rows, err := w.sql.Query(context.Background(),
		"SELECT name FROM system.tables WHERE database = 'spade' AND NOT startsWith(name, '_') AND NOT endsWith(engine, 'View')")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, rows.Err()
}

// query asks how often each event has the row that it has most often.
func (j judged) query(table string) string {
	by := "event_id"
	if j.row != "" {
		by += ", " + j.row
	}
	return fmt.Sprintf("SELECT event_id, max(n) FROM (SELECT event_id, count() AS n FROM spade.%s GROUP BY %s) GROUP BY event_id", table, by)
}

// compare says how what a table holds differs from the log; empty: in nothing.
func (j judged) compare(events map[uuid.UUID]event.Event, got map[uuid.UUID]int) string {
	var wanted, lacking, doubled, phantom int
	wants := func(id uuid.UUID) bool {
		ev, logged := events[id]
		return logged && slices.Contains(j.types, strings.TrimPrefix(ev.Type, "spade.v1."))
	}
	for id := range events {
		if !wants(id) {
			continue
		}
		wanted++
		if got[id] == 0 && !j.some {
			lacking++
		}
	}
	for id, n := range got {
		switch {
		case !wants(id):
			phantom++
		case n > 1:
			doubled++
		}
	}
	if lacking+doubled+phantom == 0 {
		return ""
	}
	return fmt.Sprintf("of %d events of the log %d are missing and %d doubled, and it holds %d that the log does not", wanted, lacking, doubled, phantom)
}

// unjudged counts the events whose types no table is known to hold.
func unjudged(events map[uuid.UUID]event.Event) map[string]int {
	known := map[string]bool{}
	for _, j := range judgedTables() {
		for _, name := range j.types {
			known[name] = true
		}
	}
	out := map[string]int{}
	for _, ev := range events {
		if name := strings.TrimPrefix(ev.Type, "spade.v1."); !known[name] {
			out[name]++
		}
	}
	return out
}

// TestTheOracleJudgesEveryTable: every type of event has a table, and what a table holds of no event is seen although the log has
// none of its types.
func TestTheOracleJudgesEveryTable(t *testing.T) {
	events, of := map[uuid.UUID]event.Event{}, map[string]uuid.UUID{}
	for _, k := range event.Kinds() {
		id := uuid.New()
		events[id], of[strings.TrimPrefix(k.Type, "spade.v1.")] = event.Event{ID: id, Type: k.Type}, id
	}
	if left := unjudged(events); len(left) > 0 {
		t.Errorf("judged by nobody: %v", left)
	}
	for table, j := range judgedTables() {
		whole := map[uuid.UUID]int{}
		for _, name := range j.types {
			whole[of[name]] = 1
		}
		if text := j.compare(events, whole); text != "" {
			t.Errorf("%s: of what is right: %s", table, text)
		}
		if text := j.compare(nil, map[uuid.UUID]int{uuid.New(): 1}); !strings.Contains(text, "it holds 1 that") {
			t.Errorf("%s: a phantom where the log holds nothing: %q", table, text)
		}
		if text := j.compare(events, map[uuid.UUID]int{}); (text == "") != j.some {
			t.Errorf("%s: nothing is there: %q", table, text)
		}
		for id := range whole {
			whole[id] = 2
			break
		}
		if text := j.compare(events, whole); !strings.Contains(text, "1 doubled") {
			t.Errorf("%s: a row twice: %q", table, text)
		}
		for id, ev := range events {
			if !slices.Contains(j.types, strings.TrimPrefix(ev.Type, "spade.v1.")) {
				if text := j.compare(events, map[uuid.UUID]int{id: 1}); !strings.Contains(text, "it holds 1 that") {
					t.Errorf("%s: a row of a %s: %q", table, ev.Type, text)
				}
			}
		}
	}
}
