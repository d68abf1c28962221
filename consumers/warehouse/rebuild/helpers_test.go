package rebuild

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/analytics/migrations"
	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/consumers/warehouse/audit"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

const partitions = 2

// world is a log, a warehouse, and what is between them.
type world struct {
	tb     testing.TB
	conn   olap.Conn
	log    *bus.Client
	number int // of rollouts appended
}

func newWorld(tb testing.TB) *world {
	tb.Helper()
	_, conn := olaptest.Start(tb)
	if err := migrations.Install(tb.Context(), conn); err != nil {
		tb.Fatal(err)
	}
	client := bustest.Open(tb).Client(tb)
	if err := client.EnsureTopics(tb.Context(), topics.All(partitions)); err != nil {
		tb.Fatal(err)
	}
	return &world{tb: tb, conn: conn, log: client}
}

func (w *world) append(events ...event.Event) {
	w.tb.Helper()
	if err := w.log.Append(w.tb.Context(), events...); err != nil {
		w.tb.Fatal(err)
	}
}

// story appends every kind of event, repeats of them with other payloads, one that cannot become rows, and withdrawals.
func (w *world) story() {
	w.tb.Helper()
	story := olaptest.Story(w.tb)
	w.append(story...)
	w.rollouts(40)
	for _, ev := range story {
		if ev.Topic == topics.Rollouts || ev.Topic == topics.Environments {
			w.append(ev)
		}
	}
	w.append(w.documents(7)...)
	bad := w.rollout()
	bad.Payload = []byte{0xff, 0xff}
	w.append(bad)
}

// documents are ingested, one is withdrawn, and then ingested again.
func (w *world) documents(n int) []event.Event {
	w.tb.Helper()
	var out []event.Event
	add := func(subject uuid.UUID, attempt int, id uuid.UUID, msg interface {
		GetDocumentId() []byte
	},
	) {
		var ev event.Event
		var err error
		switch m := msg.(type) {
		case *spadepb.DocumentIngested:
			ev, err = event.New(id.String(), subject, attempt, m, nil)
		case *spadepb.DocumentWithdrawn:
			ev, err = event.New(id.String(), subject, attempt, m, nil)
		}
		if err != nil {
			w.tb.Fatal(err)
		}
		out = append(out, ev)
	}
	for i := range n {
		id := ids.Document(fmt.Appendf(nil, "document %d", i))
		add(id, 0, id, &spadepb.DocumentIngested{DocumentId: id[:], Text: fmt.Sprint("text ", i), Title: "t"})
		if i%3 == 0 {
			add(id, 0, id, &spadepb.DocumentWithdrawn{DocumentId: id[:]})
		}
		if i%6 == 0 {
			add(id, 1, id, &spadepb.DocumentIngested{DocumentId: id[:], Text: fmt.Sprint("text again ", i), Title: "t"})
		}
	}
	return out
}

func (w *world) rollout() event.Event {
	w.tb.Helper()
	run := ids.Run("rebuilt")
	env := ids.Env(run, w.number/8, 0, 0)
	id := ids.Rollout(env, ids.ArmPlain, w.number, 0)
	w.number++
	m := &spadepb.RolloutCompleted{RunId: run[:], EnvId: env[:], RolloutId: id[:], Arm: ids.ArmPlain, Outcome: "failed", TotalReward: float64(w.number)}
	for i := range 3 {
		m.Steps = append(m.Steps, &spadepb.Step{Observation: fmt.Sprint("saw ", w.number, i), Action: "go", Reward: 0.5})
	}
	ev, err := event.New(topics.EnvKey(run, env), id, 0, m, &spadepb.Observed{Worker: "w"})
	if err != nil {
		w.tb.Fatal(err)
	}
	return ev
}

func (w *world) rollouts(n int) {
	w.tb.Helper()
	events := make([]event.Event, n)
	for i := range events {
		events[i] = w.rollout()
	}
	w.append(events...)
}

// embedder is the built-in one as the sink asks it.
type embedder struct{ embedding.Embedder }

func (e embedder) Embed(ctx context.Context, texts []string, kind string) ([][]float32, error) {
	return e.Embedder.Embed(ctx, texts, embedding.Kind(kind))
}

func builtin() embedder { return embedder{embedding.NewBuiltin()} }

func (w *world) letters() *deadletter.Writer {
	return &deadletter.Writer{Log: w.log, Source: observe.NewSource("warehouse"), Consumer: "warehouse"}
}

func (w *world) sink() *warehouse.Sink {
	w.tb.Helper()
	s, err := warehouse.New(warehouse.Config{FlushIdle: 20 * time.Millisecond}, warehouse.Settings{
		Log: w.log, Store: warehouse.NewClickHouse(w.conn), Topics: topics.All(partitions), DeadLetter: w.letters().Record, Embedder: builtin(),
		Logger: testLogger(w.tb),
	})
	if err != nil {
		w.tb.Fatal(err)
	}
	return s
}

// drain lets a sink fill the warehouse up to the end of the log.
func (w *world) drain() {
	w.tb.Helper()
	for range 2 { // the first may add dead letters
		if err := w.sink().Drain(w.tb.Context(), w.ends()); err != nil {
			w.tb.Fatal(err)
		}
	}
}

func names() []string {
	var out []string
	for _, t := range topics.All(partitions) {
		out = append(out, t.Name)
	}
	return out
}

func (w *world) ends() bus.Positions {
	w.tb.Helper()
	out := bus.Positions{}
	for _, name := range names() {
		at, err := w.log.HighWatermarks(w.tb.Context(), name)
		if err != nil {
			w.tb.Fatal(err)
		}
		out[name] = at
	}
	return out
}

// rebuild makes a rebuild on a connection, with an allocator that the test ends with empty.
func (w *world) rebuild(conn olap.Conn) *Warehouse {
	w.tb.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	w.tb.Cleanup(func() { mem.AssertSize(w.tb.(*testing.T), 0) })
	r, err := New(Config{Parallel: 1}, Settings{ // so that its statements are always the same ones
		Log: w.log, Conn: conn, Topics: topics.All(partitions), Embedder: builtin(), DeadLetter: w.letters().Record, Memory: mem,
		Install: func(ctx context.Context) error { return migrations.Install(ctx, conn) }, Logger: testLogger(w.tb),
	})
	if err != nil {
		w.tb.Fatal(err)
	}
	return r
}

// check fails the test when the warehouse does not hold exactly the log, when something of a rebuild is left, or when nobody
// can claim.
func (w *world) check() {
	w.tb.Helper()
	ledger, found, err := audit.Compare(w.tb.Context(), w.log, names(), w.conn, audit.Settings{Embedder: builtin()})
	if err != nil {
		w.tb.Fatal(err)
	}
	defer ledger.Release()
	for i, d := range found {
		if i < 5 {
			w.tb.Error(d)
		}
	}
	left := olaptest.Value[uint64](w.tb, w.conn, "SELECT count() FROM system.databases WHERE startsWith(name, 'spade_rebuild')")
	sealed := olaptest.Value[uint64](w.tb, w.conn, "SELECT count() FROM system.tables WHERE create_table_query LIKE '%a_rebuild_is_being%'")
	if left != 0 || sealed != 0 {
		w.tb.Errorf("%d databases are left, %d tables of claims are sealed", left, sealed)
	}
}

// contents is a digest of every table's rows, but for the time of their insertion.
func (w *world) contents() map[string]string {
	w.tb.Helper()
	c, err := tables.New()
	if err != nil {
		w.tb.Fatal(err)
	}
	out := map[string]string{}
	for _, t := range c.Tables {
		if !t.Bookkeeping {
			out[t.Name] = olaptest.Value[string](w.tb, w.conn, fmt.Sprintf("SELECT concat(toString(count()), ' ', toString(sum(cityHash64(toString(tuple(%s)))))) FROM spade.%s",
				strings.Join(t.Stored(), ", "), t.Name))
		}
	}
	return out
}

func testLogger(tb testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
}

var errKilled = errors.New("the process was killed")

// mortal is a connection of a process that is killed at a statement: nothing is sent from then on.
type mortal struct {
	olap.Conn
	mu   sync.Mutex
	left int // statements until then
	sent []string
	// stalled is called instead, once, while the process does nothing; then it goes on. With before it is called at the first
	// statement that contains that.
	stalled func()
	before  string
}

func (m *mortal) step(sql string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if stalled := m.stalled; stalled != nil && (m.left == 0 || m.before != "" && strings.Contains(sql, m.before)) {
		m.left, m.stalled = 1<<30, nil
		stalled()
	}
	if m.left == 0 {
		return fmt.Errorf("%w: %w", context.Canceled, errKilled) // nothing is tried again
	}
	m.left--
	m.sent = append(m.sent, sql)
	return nil
}

func (m *mortal) Exec(ctx context.Context, sql string, args ...any) error {
	if err := m.step(sql); err != nil {
		return err
	}
	return m.Conn.Exec(ctx, sql, args...)
}

func (m *mortal) Query(ctx context.Context, sql string, args ...any) (driver.Rows, error) {
	if err := m.step(sql); err != nil {
		return nil, err
	}
	return m.Conn.Query(ctx, sql, args...)
}

func (m *mortal) InsertFormat(ctx context.Context, format, sql string, body io.Reader) error {
	if err := m.step(sql); err != nil {
		return err
	}
	return m.Conn.InsertFormat(ctx, format, sql, body)
}
