package warehouse

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Load implements Store.
func (c *ClickHouse) Load(ctx context.Context, group string, places []Place) (map[Place]State, error) {
	if len(places) == 0 {
		return map[Place]State{}, nil
	}
	states := make(map[Place]State, len(places))
	for _, p := range places {
		states[p] = State{}
	}
	finished, err := c.finished(ctx, group, places[0].Partition)
	if err != nil {
		return nil, err
	}
	plans, err := c.plans(ctx, group, places[0].Partition)
	if err != nil {
		return nil, err
	}
	for p := range states {
		s := finished[p]
		// What a writer finished that lost the partition may have been recorded after the next one had read the state: then the
		// position lies within that one's plan. Repeating a plan of which a part is finished changes nothing.
		if plan, ok := plans[p]; ok && plan.Plan.Last >= s.Next {
			s.Plan, s.Next = plan.Plan, min(s.Next, plan.Plan.First)
			if s.Incarnation == "" {
				s.Incarnation = plan.Incarnation
			}
		}
		states[p] = s
	}
	return states, nil
}

// Incarnations implements Store.
func (c *ClickHouse) Incarnations(ctx context.Context, group string) (map[string]string, error) {
	rows, err := c.conn.Query(ctx, fmt.Sprintf(
		"SELECT toString(topic_id), argMax(toString(incarnation), finished_at) FROM %s.%s WHERE sink = %s AND incarnation != '' GROUP BY topic_id",
		c.database, tables.OffsetsTable, tables.Quote(group)))
	if err != nil {
		return nil, class(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	out := map[string]string{}
	for rows.Next() {
		var topic, id string
		if err := rows.Scan(&topic, &id); err != nil {
			return nil, class(err)
		}
		out[topic] = id
	}
	return out, class(rows.Err())
}

// finished reads how far the topics of a partition number are, and what they were.
func (c *ClickHouse) finished(ctx context.Context, group string, partition int32) (map[Place]State, error) {
	rows, err := c.conn.Query(ctx, fmt.Sprintf(
		"SELECT toString(topic_id), max(next_offset), argMax(toString(incarnation), (next_offset, incarnation != '')) "+
			"FROM %s.%s WHERE sink = %s AND partition = %d GROUP BY topic_id",
		c.database, tables.OffsetsTable, tables.Quote(group), partition))
	return placeStates(rows, err, partition, func(rows driver.Rows, topic *string, s *State) error {
		return rows.Scan(topic, &s.Next, &s.Incarnation)
	})
}

// plans reads the newest plan of each topic of a partition number. Plans go forwards, so it is the one that begins last. Of
// plans that begin together, the earlier ones were in flight when their writers lost the claim and inserted nothing. They are told
// apart by the time at which the server compared them with the claim. A clock that was set back in that moment could choose the
// wrong one, which matters only while an insert of the other is still in flight: what has rows is left out of a repeated range.
func (c *ClickHouse) plans(ctx context.Context, group string, partition int32) (map[Place]State, error) {
	rows, err := c.conn.Query(ctx, fmt.Sprintf(
		"SELECT toString(topic_id), first, last, toString(incarnation) FROM %s.%s "+
			"WHERE sink = %s AND partition = %d ORDER BY first DESC, planned_at DESC LIMIT 1 BY topic_id",
		c.database, tables.PlansTable, tables.Quote(group), partition))
	return placeStates(rows, err, partition, func(rows driver.Rows, topic *string, s *State) error {
		s.Plan = &Range{}
		return rows.Scan(topic, &s.Plan.First, &s.Plan.Last, &s.Incarnation)
	})
}

// placeStates reads one state a row.
func placeStates(
	rows driver.Rows, err error, partition int32, scan func(driver.Rows, *string, *State) error,
) (map[Place]State, error) {
	if err != nil {
		return nil, class(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	out := map[Place]State{}
	for rows.Next() {
		p := Place{Partition: partition}
		var s State
		if err := scan(rows, &p.Topic, &s); err != nil {
			return nil, class(err)
		}
		out[p] = s
	}
	return out, class(rows.Err())
}

// Held implements Store.
func (c *ClickHouse) Held(ctx context.Context, t *tables.Table, p Place, r Range) (map[int64]bool, error) {
	rows, err := c.conn.Query(ctx, fmt.Sprintf(
		"SELECT DISTINCT kafka_offset FROM %s.%s WHERE kafka_topic = %s AND kafka_partition = %d AND kafka_offset BETWEEN %d AND %d",
		c.database, t.Name, tables.Quote(p.Topic), p.Partition, r.First, r.Last))
	if err != nil {
		return nil, class(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	out := map[int64]bool{}
	for rows.Next() {
		var at int64
		if err := rows.Scan(&at); err != nil {
			return nil, class(err)
		}
		out[at] = true
	}
	return out, class(rows.Err())
}

// lookupIDs is how many events one lookup asks for: their ids and keys, once for each of two tables, must fit into a statement,
// which a server takes up to 256 KiB of.
const lookupIDs = 1000

// Present implements Store. The rows of the events' keys are found through the primary index.
func (c *ClickHouse) Present(ctx context.Context, p Place, first int64, events []event.Event) (map[uuid.UUID]bool, error) {
	out := map[uuid.UUID]bool{}
	if first == 0 {
		return out, nil
	}
	anchors := tables.Anchors(p.Topic)
	if len(anchors) == 0 {
		return nil, fmt.Errorf("topic %q has no table", p.Topic)
	}
	if anchors[0].ByEnv {
		// Everything of an environment is little: asking for it by its key takes fewer ids than naming the events.
		events = onePerKey(events)
	}
	for part := range slices.Chunk(events, lookupIDs) {
		if err := c.present(ctx, c.presentQuery(p, anchors, first, part), out); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func onePerKey(events []event.Event) []event.Event {
	seen := make(map[string]bool, len(events))
	var out []event.Event
	for i := range events {
		if !seen[events[i].Key] {
			seen[events[i].Key] = true
			out = append(out, events[i])
		}
	}
	return out
}

func (c *ClickHouse) present(ctx context.Context, query string, out map[uuid.UUID]bool) error {
	rows, err := c.conn.Query(ctx, query)
	if err != nil {
		return class(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	for rows.Next() {
		var id uuid.UUID
		if err := rows.Scan(&id); err != nil {
			return class(err)
		}
		out[id] = true
	}
	return class(rows.Err())
}

// presentQuery looks into every anchor of a topic.
func (c *ClickHouse) presentQuery(p Place, anchors []tables.Anchor, first int64, events []event.Event) string {
	parts := make([]string, 0, len(anchors))
	for _, a := range anchors {
		parts = append(parts, fmt.Sprintf("SELECT event_id FROM %s.%s WHERE kafka_topic = %s AND kafka_partition = %d AND kafka_offset < %d AND %s",
			c.database, a.Table, tables.Quote(p.Topic), p.Partition, first, which(a, events)))
	}
	return strings.Join(parts, " UNION ALL ")
}

// which is the condition that a row is of one of the events. An event whose key is not made of ids never got a row there.
func which(a tables.Anchor, events []event.Event) string {
	var ids, runs, lasts idList
	for i := range events {
		ids.add(events[i].ID)
		if run, last, err := tables.KeyIDs(events[i].Key); err == nil {
			runs.add(run)
			lasts.add(last)
		}
	}
	switch {
	case a.ByEnv:
		return fmt.Sprintf("run_id IN (%s) AND %s IN (%s)", runs.text(), a.Column, lasts.text())
	case a.Column != "":
		return fmt.Sprintf("%s IN (%s) AND event_id IN (%s)", a.Column, lasts.text(), ids.text())
	}
	return fmt.Sprintf("event_id IN (%s)", ids.text())
}

// idList is ids without repeats, in the order they came.
type idList struct {
	seen map[uuid.UUID]bool
	list []uuid.UUID
}

func (l *idList) add(id uuid.UUID) {
	if l.seen == nil {
		l.seen = map[uuid.UUID]bool{}
	}
	if !l.seen[id] {
		l.seen[id] = true
		l.list = append(l.list, id)
	}
}

// text lists the ids; an empty list is one that matches nothing.
func (l *idList) text() string {
	if len(l.list) == 0 {
		return "NULL"
	}
	var b strings.Builder
	for i, id := range l.list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("'" + id.String() + "'")
	}
	return b.String()
}
