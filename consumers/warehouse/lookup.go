package warehouse

import (
	"context"
	"fmt"
	"strings"

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
	positions, err := c.Positions(ctx, group)
	if err != nil {
		return nil, err
	}
	plans, err := c.plans(ctx, group, places[0].Partition)
	if err != nil {
		return nil, err
	}
	for p := range states {
		s := State{Next: positions[p.Topic][p.Partition]}
		// A plan that begins before what is finished is finished, or was made by a writer that had lost the partition.
		if r, ok := plans[p]; ok && r.First >= s.Next {
			s.Plan = &r
		}
		states[p] = s
	}
	return states, nil
}

// plans reads the newest plan of each topic of a partition number.
func (c *ClickHouse) plans(ctx context.Context, group string, partition int32) (map[Place]Range, error) {
	rows, err := c.conn.Query(ctx, fmt.Sprintf(
		"SELECT toString(topic_id), first, last FROM %s.%s WHERE sink = %s AND partition = %d ORDER BY planned_at DESC LIMIT 1 BY topic_id",
		tables.Database, tables.PlansTable, tables.Quote(group), partition))
	if err != nil {
		return nil, class(err)
	}
	defer rows.Close() //nolint:errcheck // rows.Err says what went wrong
	out := map[Place]Range{}
	for rows.Next() {
		p := Place{Partition: partition}
		var r Range
		if err := rows.Scan(&p.Topic, &r.First, &r.Last); err != nil {
			return nil, class(err)
		}
		out[p] = r
	}
	return out, class(rows.Err())
}

// lookupEvents is how many events one lookup asks for: their ids must fit into a statement.
const lookupEvents = 2000

// Present implements Store. The rows of the events' keys are found through the primary index.
func (c *ClickHouse) Present(ctx context.Context, p Place, first int64, events []event.Event) (map[uuid.UUID]bool, error) {
	out := map[uuid.UUID]bool{}
	if first == 0 {
		return out, nil
	}
	for len(events) > 0 {
		n := min(len(events), lookupEvents)
		if err := c.present(ctx, p, first, events[:n], out); err != nil {
			return nil, err
		}
		events = events[n:]
	}
	return out, nil
}

func (c *ClickHouse) present(ctx context.Context, p Place, first int64, events []event.Event, out map[uuid.UUID]bool) error {
	query, err := presentQuery(p, first, events)
	if err != nil {
		return err
	}
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

// presentQuery looks into every anchor of the topic.
func presentQuery(p Place, first int64, events []event.Event) (string, error) {
	catalogue, err := tables.New()
	if err != nil {
		return "", err
	}
	var parts []string
	for _, anchor := range tables.Anchors(p.Topic) {
		t, err := catalogue.Table(anchor)
		if err != nil {
			return "", err
		}
		parts = append(parts, fmt.Sprintf(
			"SELECT event_id FROM %s.%s WHERE %skafka_topic = %s AND kafka_partition = %d AND kafka_offset < %d AND event_id IN (%s)",
			tables.Database, t.Name, keyCondition(t.Lookup, events), tables.Quote(p.Topic), p.Partition, first, eventIDs(events)))
	}
	if len(parts) == 0 {
		return "", fmt.Errorf("topic %q has no table", p.Topic)
	}
	return strings.Join(parts, " UNION ALL "), nil
}

func eventIDs(events []event.Event) string {
	var l idList
	for i := range events {
		l.add(events[i].ID)
	}
	return l.text()
}

// keyCondition narrows a lookup down to the keys of the events. A key that is not made of ids narrows nothing.
func keyCondition(columns []string, events []event.Event) string {
	runs, lasts := idList{}, idList{}
	for i := range events {
		run, last, err := tables.KeyIDs(events[i].Key)
		if err != nil || (len(columns) == 2 && run == uuid.Nil) {
			return ""
		}
		runs.add(run)
		lasts.add(last)
	}
	if len(columns) == 2 {
		return fmt.Sprintf("%s IN (%s) AND %s IN (%s) AND ", columns[0], runs.text(), columns[1], lasts.text())
	}
	return fmt.Sprintf("%s IN (%s) AND ", columns[0], lasts.text())
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

func (l *idList) text() string {
	var b strings.Builder
	for i, id := range l.list {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("'" + id.String() + "'")
	}
	return b.String()
}
