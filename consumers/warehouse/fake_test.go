package warehouse

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
)

// fakeStore is a warehouse in memory with the rules of the real one: claims, and a window of tokens per table. It fails the
// test on a call that no sink may make.
type fakeStore struct {
	t      testing.TB
	window int

	mu      sync.Mutex // guards the following
	claims  map[Place]uint64
	plans   map[Place][]Range
	offsets map[Place]int64
	tokens  map[string][]string
	rows    map[string][]*fakeRow
	sizes   map[string]int // rows of each token, for ever
}

// fakeRow is a row: all its values as JSON, and those that the store looks at.
type fakeRow struct {
	event, document uuid.UUID
	place           Place
	offset          int64
	values          map[string]any
}

func newFakeRow(values map[string]any) *fakeRow {
	delete(values, "writer")
	return &fakeRow{
		event: rowID(values["event_id"]), document: rowID(values["document_id"]), values: values,
		place:  Place{values["kafka_topic"].(string), int32(values["kafka_partition"].(float64))},
		offset: int64(values["kafka_offset"].(float64)),
	}
}

func newFakeStore(t testing.TB, window int) *fakeStore {
	return &fakeStore{
		t: t, window: window, claims: map[Place]uint64{}, plans: map[Place][]Range{}, offsets: map[Place]int64{},
		tokens: map[string][]string{}, rows: map[string][]*fakeRow{}, sizes: map[string]int{},
	}
}

func (f *fakeStore) Claim(_ context.Context, places []Place, w Writer) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if w.Token == 0 {
		f.t.Error("claim by nobody")
	}
	for _, p := range places {
		f.claims[p] = w.Token
	}
	return nil
}

func (f *fakeStore) Load(_ context.Context, _ string, places []Place) (map[Place]State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[Place]State{}
	for _, p := range places {
		s := State{Next: f.offsets[p]}
		if plans := f.plans[p]; len(plans) > 0 && plans[len(plans)-1].Last >= s.Next {
			s.Plan = &plans[len(plans)-1]
			s.Next = min(s.Next, s.Plan.First)
		}
		out[p] = s
	}
	return out, nil
}

func (f *fakeStore) Positions(context.Context, string) (bus.Positions, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := bus.Positions{}
	for p, next := range f.offsets {
		if out[p.Topic] == nil {
			out[p.Topic] = map[int32]int64{}
		}
		out[p.Topic][p.Partition] = next
	}
	return out, nil
}

func (f *fakeStore) Present(_ context.Context, p Place, first int64, events []event.Event) (map[uuid.UUID]bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	asked := map[uuid.UUID]bool{}
	for i := range events {
		asked[events[i].ID] = true
	}
	out := map[uuid.UUID]bool{}
	for _, anchor := range tables.Anchors(p.Topic) {
		for _, row := range f.rows[anchor.Table] {
			if asked[row.event] && row.place == p && row.offset < first {
				out[row.event] = true
			}
		}
	}
	return out, nil
}

func (f *fakeStore) Plan(_ context.Context, p Place, w Writer, r Range) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.claims[p] != w.Token {
		return ErrFenced
	}
	if r.First < f.offsets[p] || r.Last < r.First {
		f.t.Errorf("plan %v of %v, which holds everything before %d", r, p, f.offsets[p])
	}
	f.plans[p] = append(f.plans[p], r)
	return nil
}

func (f *fakeStore) Insert(_ context.Context, t *tables.Table, token string, rec arrow.Record) error {
	text, err := rec.MarshalJSON()
	if err != nil {
		return err
	}
	var rows []map[string]any
	if err := json.Unmarshal(text, &rows); err != nil {
		return err
	}
	writer := rec.Column(rec.Schema().FieldIndices("writer")[0])
	f.mu.Lock()
	defer f.mu.Unlock()
	p := Place{rows[0]["kafka_topic"].(string), int32(rows[0]["kafka_partition"].(float64))}
	if writer.ValueStr(0) != fmt.Sprint(f.claims[p]) {
		return ErrFenced
	}
	if n, ok := f.sizes[token]; ok && n != len(rows) {
		f.t.Errorf("%s had %d rows and now has %d: the server would not recognise it", token, n, len(rows))
	}
	f.sizes[token] = len(rows)
	if slices.Contains(f.tokens[t.Name], token) {
		return nil
	}
	f.tokens[t.Name] = append(f.tokens[t.Name], token)
	if n := len(f.tokens[t.Name]); n > f.window {
		f.tokens[t.Name] = f.tokens[t.Name][n-f.window:]
	}
	for _, row := range rows {
		f.rows[t.Name] = append(f.rows[t.Name], newFakeRow(row))
	}
	return nil
}

// forget is what a killed server may leave of an insert: its token, and not its rows.
func (f *fakeStore) forget(t *tables.Table, token string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tokens[t.Name] = append(f.tokens[t.Name], token)
}

func (f *fakeStore) Held(_ context.Context, t *tables.Table, p Place, r Range) (map[int64]bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[int64]bool{}
	for _, row := range f.rows[t.Name] {
		if row.place == p && row.offset >= r.First && row.offset <= r.Last {
			out[row.offset] = true
		}
	}
	return out, nil
}

func (f *fakeStore) Incarnations(context.Context, string) (map[string]string, error) { return nil, nil }

func (f *fakeStore) Windows(context.Context) (map[string]Window, error) {
	c, err := sharedCatalogue()
	if err != nil {
		return nil, err
	}
	out := map[string]Window{}
	for _, t := range c.Tables {
		out[t.Name] = Window{Blocks: int64(f.window)}
	}
	return out, nil
}

func (f *fakeStore) Redact(_ context.Context, p Place, withdrawn []Withdrawal) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, row := range f.rows[tables.DocumentEvents] {
		for _, w := range withdrawn {
			if row.document == w.Document && row.place == p && row.offset < w.Before {
				row.values["text"] = ""
			}
		}
	}
	return nil
}

func (f *fakeStore) Finish(_ context.Context, p Place, w Writer, next int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.claims[p] != w.Token {
		return ErrFenced
	}
	if plans := f.plans[p]; len(plans) > 0 && plans[len(plans)-1].First >= f.offsets[p] && next <= plans[len(plans)-1].Last {
		f.t.Errorf("%v finished at %d inside its plan %v", p, next, plans[len(plans)-1])
	}
	f.offsets[p] = max(f.offsets[p], next)
	return nil
}

// rowID is an id as JSON has it.
func rowID(v any) uuid.UUID {
	text, _ := v.(string)
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil || len(b) != 16 {
		return uuid.Nil
	}
	return uuid.UUID(b)
}

// content is the rows of every table as sorted text.
func (f *fakeStore) content() map[string][]string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return rowTexts(f.rows)
}

func rowTexts(tables map[string][]*fakeRow) map[string][]string {
	out := map[string][]string{}
	for name, rows := range tables {
		for _, row := range rows {
			text, _ := json.Marshal(row.values)
			out[name] = append(out[name], string(text))
		}
		slices.Sort(out[name])
	}
	return out
}

// foldJSON is what a warehouse should hold of a log: the first record of each event, event by event.
func foldJSON(t testing.TB, l *memoryLog) map[string][]string {
	t.Helper()
	c, err := tables.New()
	if err != nil {
		t.Fatal(err)
	}
	set := tables.NewSet(memory.DefaultAllocator, c, 0)
	defer set.Release()
	for _, events := range l.events {
		firsts, messages := firstRecords(t, events)
		withdrawn := map[string]int64{}
		for i, msg := range messages {
			if m, ok := msg.(*spadepb.DocumentWithdrawn); ok {
				withdrawn[string(m.GetDocumentId())] = firsts[i].LastOffset
			}
		}
		for i, msg := range messages {
			if m, ok := msg.(*spadepb.DocumentIngested); ok && withdrawn[string(m.GetDocumentId())] > firsts[i].LastOffset {
				m.Text = ""
			}
			if err := set.Append(&firsts[i], msg); err != nil {
				t.Fatal(err)
			}
		}
	}
	rows := map[string][]*fakeRow{}
	for _, b := range set.Blocks() {
		text, err := b.Record.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var list []map[string]any
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		for _, row := range list {
			rows[b.Table.Name] = append(rows[b.Table.Name], newFakeRow(row))
		}
		b.Record.Release()
	}
	return rowTexts(rows)
}

// firstRecords are the events that can become rows, without repeats, and their payloads.
func firstRecords(t testing.TB, events []event.Event) (firsts []event.Event, messages []proto.Message) {
	t.Helper()
	seen := map[uuid.UUID]bool{}
	for i := range events {
		if seen[events[i].ID] {
			continue
		}
		if msg := valid(t, &events[i]); msg != nil {
			seen[events[i].ID] = true
			firsts, messages = append(firsts, events[i]), append(messages, msg)
		}
	}
	return firsts, messages
}

// valid is the payload of an event that can become rows, or nil.
func valid(t testing.TB, ev *event.Event) proto.Message {
	t.Helper()
	c, err := sharedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	set := tables.NewSet(memory.DefaultAllocator, c, 0)
	defer set.Release()
	msg, err := ev.Message()
	if err != nil || set.Append(ev, msg) != nil {
		return nil
	}
	return msg
}

var sharedCatalogue = sync.OnceValues(tables.New)

// errCrash ends a writer the way kill -9 does: nothing of it happens afterwards.
var errCrash = errors.New("crash")

// faulty is a store whose call number at goes wrong: mode "before" crashes before the call is executed, "after" once it has
// been, "lost" executes it and loses the answer, "forgotten" crashes with the server in an insert, of which it remembers the
// token alone, "stop" waits before it, as a process does under SIGSTOP.
type faulty struct {
	Store
	at   int
	mode string // "before", "after", "lost", "forgotten" or "stop"

	reached, resume chan struct{} // mode "stop"
	resumed         func()        // mode "stop": what happens to the writer after the call

	mu    sync.Mutex // guards the following
	calls int
}

func (f *faulty) do(fn func() error) error {
	f.mu.Lock()
	f.calls++
	hit := f.calls == f.at
	f.mu.Unlock()
	if hit && f.mode == "before" {
		return errCrash
	}
	if hit && f.mode == "stop" {
		close(f.reached)
		<-f.resume
		defer f.resumed()
		return fn()
	}
	err := fn()
	if hit && err == nil {
		if f.mode == "lost" {
			return fmt.Errorf("connection reset: %w", ErrTransient)
		}
		return errCrash
	}
	return err
}

func (f *faulty) Claim(ctx context.Context, p []Place, w Writer) error {
	return f.do(func() error { return f.Store.Claim(ctx, p, w) })
}

func (f *faulty) Load(ctx context.Context, group string, p []Place) (out map[Place]State, err error) {
	err = f.do(func() error { out, err = f.Store.Load(ctx, group, p); return err })
	return out, err
}

func (f *faulty) Present(ctx context.Context, p Place, first int64, events []event.Event) (out map[uuid.UUID]bool, err error) {
	err = f.do(func() error { out, err = f.Store.Present(ctx, p, first, events); return err })
	return out, err
}

func (f *faulty) Plan(ctx context.Context, p Place, w Writer, r Range) error {
	return f.do(func() error { return f.Store.Plan(ctx, p, w, r) })
}

func (f *faulty) Insert(ctx context.Context, t *tables.Table, token string, rec arrow.Record) error {
	return f.do(func() error {
		if f.mode == "forgotten" && f.calls == f.at {
			f.Store.(*fakeStore).forget(t, token)
			return errCrash
		}
		return f.Store.Insert(ctx, t, token, rec)
	})
}

func (f *faulty) Held(ctx context.Context, t *tables.Table, p Place, r Range) (out map[int64]bool, err error) {
	err = f.do(func() error { out, err = f.Store.Held(ctx, t, p, r); return err })
	return out, err
}

func (f *faulty) Redact(ctx context.Context, p Place, withdrawn []Withdrawal) error {
	return f.do(func() error { return f.Store.Redact(ctx, p, withdrawn) })
}

func (f *faulty) Finish(ctx context.Context, p Place, w Writer, next int64) error {
	return f.do(func() error { return f.Store.Finish(ctx, p, w, next) })
}

// fakeClaim is the bus's claim on the test partition.
type fakeClaim struct {
	t         testing.TB
	committed map[string]int64
	delivered map[string]int64
	start     map[string]int64
	topics    []string
}

func newFakeClaim(t testing.TB, l *memoryLog, committed map[string]int64) *fakeClaim {
	return &fakeClaim{t: t, committed: committed, delivered: map[string]int64{}, start: maps.Clone(committed), topics: l.topics()}
}

func (c *fakeClaim) Topics() []string { return c.topics }

func (c *fakeClaim) Committed(topic string) (int64, bool) {
	at, ok := c.committed[topic]
	return at, ok
}

func (c *fakeClaim) StartAt(topic string, offset int64) error {
	c.start[topic] = offset
	return nil
}

func (c *fakeClaim) Commit(topic string, next int64) error {
	if next > c.delivered[topic] {
		c.t.Errorf("commit of %s at %d, delivered is %d", topic, next, c.delivered[topic])
	}
	c.committed[topic] = max(c.committed[topic], next)
	return nil
}
