//go:build linux

package chaos

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/digest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// logged is the log as the oracle reads it, from its beginning: the first record of every event.
type logged struct {
	events  map[uuid.UUID]event.Event // without payloads of the appender's
	order   map[string][]uuid.UUID    // the appender's events by key, in the order of their first records
	digests map[uuid.UUID]*digest.Log // by run
	wanted  map[uuid.UUID]uuid.UUID   // accepted environments of the world's runs, by run
}

// readLog reads everything that the world may hold.
func (w *world) readLog() (*logged, error) {
	l := &logged{
		events: map[uuid.UUID]event.Event{}, order: map[string][]uuid.UUID{}, digests: map[uuid.UUID]*digest.Log{},
		wanted: map[uuid.UUID]uuid.UUID{},
	}
	for _, name := range w.runs {
		l.digests[ids.Run(name)] = digest.New(ids.Run(name))
	}
	log := w.client(bus.Settings{})
	for _, topic := range topics.All(topics.DefaultPartitions) {
		err := log.Read(context.Background(), topic.Name, nil, nil, func(ev event.Event) error { l.add(w, ev); return nil })
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", topic.Name, err)
		}
	}
	return l, nil
}

func (l *logged) add(w *world, ev event.Event) {
	for run, d := range l.digests {
		d.Add(ev)
		if ev.Type == event.TypeOf((*spadepb.EnvironmentAccepted)(nil)) && topics.OfRun(ev.Key, run) {
			l.wanted[uuid.MustParse(ev.Key[37:])] = run
		}
	}
	if _, repeated := l.events[ev.ID]; repeated {
		return
	}
	if topics.OfRun(ev.Key, w.append.run) {
		l.order[ev.Key] = append(l.order[ev.Key], ev.ID)
	}
	ev.Payload = nil
	l.events[ev.ID] = ev
}

// judge compares what the world holds with the log, and the log with what was acknowledged.
func (w *world) judge() {
	w.log.add("reading the log")
	l, err := w.readLog()
	if err != nil {
		w.problem("the log cannot be read: %v", err)
		return
	}
	w.log.add("the log holds %d events, %d of them acknowledged to the appender, which appended %d again",
		len(l.events), w.append.count(), w.append.again)
	w.judgeAppended(l)
	w.judgeWarehouse(l)
	w.judgeLetters()
	w.judgeMemory(l)
	w.judgeVerify()
	w.judgeDigests(l)
}

// judgeAppended: acknowledged events are in the log, in order per key, and nothing is there that was not appended.
func (w *world) judgeAppended(l *logged) {
	a := w.append
	for key, acked := range a.acked {
		got := l.order[key]
		for i, want := range acked {
			if i >= len(got) || got[i] != want.id {
				w.problem("key %s: event %d of %d that were acknowledged is not event %d of %d in the log", key, i, len(acked), i, len(got))
				break
			}
		}
		if extra := len(got) - len(acked); extra > 1 {
			w.problem("key %s: the log holds %d events beyond the %d acknowledged ones, at most one was under way", key, extra, len(acked))
		}
	}
	for key, got := range l.order {
		for _, id := range got {
			if !a.tried[id] {
				w.problem("key %s: the log holds %s, which was never appended", key, id)
			}
		}
	}
}

// judgeWarehouse: every event of the log is in its tables once, and the tables hold no other.
func (w *world) judgeWarehouse(l *logged) {
	w.judgeTables(l)
	steps, err := w.count("SELECT event_id, count() FROM spade.steps WHERE run_id = '" + w.append.run.String() + "' GROUP BY event_id")
	if err != nil {
		w.problem("read steps: %v", err)
		return
	}
	wrong, example := 0, ""
	for key, acked := range w.append.acked {
		for _, ev := range acked {
			if steps[ev.id] != ev.steps {
				wrong++
				example = fmt.Sprintf("%s of %s has %d instead of %d", ev.id, key, steps[ev.id], ev.steps)
			}
		}
	}
	if wrong > 0 {
		w.problem("%d episodes have another number of steps in the warehouse than in the log: %s", wrong, example)
	}
}

// count reads ids with numbers.
func (w *world) count(query string) (map[uuid.UUID]int, error) {
	rows, err := w.sql.Query(context.Background(), query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	out := map[uuid.UUID]int{}
	for rows.Next() {
		var id uuid.UUID
		var n uint64
		if err := rows.Scan(&id, &n); err != nil {
			return nil, err
		}
		out[id] = int(n)
	}
	return out, rows.Err()
}

// judgeLetters: every planted record is a dead letter once, however many consumers met it.
func (w *world) judgeLetters() {
	rows, err := w.sql.Query(context.Background(),
		"SELECT payload, count() FROM spade.dead_letters GROUP BY topic, partition, offset, payload")
	if err != nil {
		w.problem("read dead letters: %v", err)
		return
	}
	defer rows.Close()
	got := map[uuid.UUID]int{}
	for rows.Next() {
		var payload string
		var n uint64
		if err := rows.Scan(&payload, &n); err != nil {
			w.problem("read dead letters: %v", err)
			return
		}
		if mark, err := uuid.FromBytes([]byte(payload[max(0, len(payload)-16):])); err == nil {
			got[mark] += int(n)
		}
	}
	if err := rows.Err(); err != nil {
		w.problem("read dead letters: %v", err)
		return
	}
	lacking, doubled := 0, 0
	for mark := range w.append.poison {
		switch n := got[mark]; {
		case n == 0:
			lacking++
		case n > 1:
			doubled++
		default:
			w.reach(deadLetter)
		}
	}
	if lacking+doubled > 0 {
		w.problem("of %d records that cannot be read %d are no dead letter and %d are one twice", len(w.append.poison), lacking, doubled)
	}
	w.log.add("%d of %d planted records are dead letters", len(got), len(w.append.poison))
}

// settle waits until the warehouse holds what the log holds.
func (w *world) settle() error {
	log := w.client(bus.Settings{})
	ends := map[string]map[int32]int64{}
	for _, topic := range topics.All(topics.DefaultPartitions) {
		end, err := log.HighWatermarks(context.Background(), topic.Name)
		if err != nil {
			return err
		}
		ends[topic.Name] = end
	}
	deadline := time.Now().Add(settleTimeout)
	for {
		behind, err := w.behind(ends)
		if err == nil && len(behind) == 0 {
			return nil
		}
		if late := time.Now().After(deadline); late && err != nil {
			return fmt.Errorf("ask the warehouse how far it is: %w", err)
		} else if late {
			return fmt.Errorf("the warehouse lacks %v", behind)
		}
		time.Sleep(200 * time.Millisecond)
	}
}

// settleTimeout is how long the projections may take to catch up once nothing is broken any more.
const settleTimeout = 90 * time.Second

func (w *world) behind(ends map[string]map[int32]int64) ([]string, error) {
	rows, err := w.sql.Query(context.Background(),
		"SELECT toString(topic_id), partition, max(next_offset) FROM spade._offsets GROUP BY topic_id, partition")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	held := map[string]int64{}
	for rows.Next() {
		var topic string
		var partition int32
		var next int64
		if err := rows.Scan(&topic, &partition, &next); err != nil {
			return nil, err
		}
		held[fmt.Sprintf("%s/%d", topic, partition)] = next
	}
	var behind []string
	for topic, parts := range ends {
		for p, end := range parts {
			if place := fmt.Sprintf("%s/%d", topic, p); held[place] < end {
				behind = append(behind, fmt.Sprintf("%s (%d of %d)", place, held[place], end))
			}
		}
	}
	sort.Strings(behind)
	return behind, rows.Err()
}
