package warehouse

import (
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/consumers/warehouse/audit"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/event"
)

// wantLog fails the test when the warehouse does not hold exactly the log.
func wantLog(t testing.TB, conn olap.Conn, l audit.Reader, names []string) {
	t.Helper()
	compareLog(t, conn, l, names, nil)
}

// compareLog is wantLog, with the vectors that an embedder computes. It returns how many rows the tables have.
func compareLog(t testing.TB, conn olap.Conn, l audit.Reader, names []string, e audit.Embedder) map[string]int64 {
	t.Helper()
	ledger, found, err := audit.Compare(t.Context(), l, names, conn, audit.Settings{Embedder: e})
	if err != nil {
		t.Fatal(err)
	}
	defer ledger.Release()
	for _, d := range found {
		t.Error(d)
	}
	rows := map[string]int64{}
	for _, c := range ledger.Counts() {
		rows[c.Table] = c.Log
	}
	if len(rows) == 0 {
		t.Fatal("the log has no rows")
	}
	return rows
}

// TestServerCrashAnywhere is TestCrashAnywhere on the real engine, at some of the calls.
func TestServerCrashAnywhere(t *testing.T) {
	_, conn := olaptest.Start(t)
	l := makeLog(rand.New(rand.NewPCG(31, 32)), 16)
	modes := []string{"before", "after", "lost"}
	for at := 1; ; at += 9 {
		olaptest.Reset(t, conn)
		f := &faulty{Store: NewClickHouse(conn), at: at, mode: modes[at/9%3]}
		runToEnd(t, f, l, rand.New(rand.NewPCG(3, uint64(at))))
		wantLog(t, conn, l, l.topics())
		if t.Failed() {
			t.Fatalf("crash at call %d, %s", at, f.mode)
		}
		if f.calls < at {
			return
		}
	}
}

// TestServerStalledWriter is TestStalledWriter on the real engine, whose tables remember one token.
func TestServerStalledWriter(t *testing.T) {
	_, conn := olaptest.Start(t)
	l := makeLog(rand.New(rand.NewPCG(41, 42)), 16)
	refused := int64(0)
	for at := 4; ; at += 7 {
		olaptest.Reset(t, conn)
		for _, table := range []string{"environment_events", "environment_documents", "neighbours", "rollouts", "dropped_rollouts", "steps", "document_events"} {
			if err := conn.Exec(t.Context(), "ALTER TABLE spade."+table+" MODIFY SETTING non_replicated_deduplication_window = 1"); err != nil {
				t.Fatal(err)
			}
		}
		calls, fenced := stall(t, NewClickHouse(conn), l, at)
		refused += fenced
		wantLog(t, conn, l, l.topics())
		if t.Failed() {
			t.Fatalf("stopped at call %d", at)
		}
		if calls < at {
			break
		}
	}
	if refused == 0 {
		t.Error("no insert of a stopped writer was refused")
	}
}

// TestServerClaims: each write needs the claim at the moment it is executed.
func TestServerClaims(t *testing.T) {
	_, conn := olaptest.Start(t)
	store := NewClickHouse(conn)
	p := Place{"spade.rollouts", 3}
	first, second := Writer{Group: Group, Token: 1, Generation: 1}, Writer{Group: Group, Token: 2, Generation: 2}
	ctx := t.Context()
	if err := store.Plan(ctx, p, first, Range{0, 1}); !errors.Is(err, ErrFenced) {
		t.Errorf("plan without a claim: %v", err)
	}
	if err := errors.Join(store.Claim(ctx, []Place{p}, first), store.Plan(ctx, p, first, Range{0, 1})); err != nil {
		t.Fatal(err)
	}
	if err := store.Claim(ctx, []Place{p}, second); err != nil {
		t.Fatal(err)
	}
	if err := store.Finish(ctx, p, first, 2); !errors.Is(err, ErrFenced) {
		t.Errorf("finish after the claim is gone: %v", err)
	}
	states, err := store.Load(ctx, Group, []Place{p, {"spade.regrets", 3}})
	if err != nil || states[p].Plan == nil || *states[p].Plan != (Range{0, 1}) {
		t.Errorf("state %+v, %v", states, err)
	}
	// The first writer's last word may be recorded late: the plan is not finished while it is not finished whole.
	if err := errors.Join(store.Finish(ctx, p, second, 1), store.Finish(ctx, Place{"spade.regrets", 3}, second, 1)); !errors.Is(err, ErrFenced) {
		t.Fatal(err)
	}
	if states, err = store.Load(ctx, Group, []Place{p}); err != nil || states[p].Plan == nil || *states[p].Plan != (Range{0, 1}) || states[p].Next != 0 {
		t.Errorf("a part is finished: %+v, %v", states, err)
	}
	if err := store.Finish(ctx, p, second, 2); err != nil {
		t.Fatal(err)
	}
	if states, err = store.Load(ctx, Group, []Place{p}); err != nil || states[p].Plan != nil || states[p].Next != 2 {
		t.Errorf("state %+v, %v", states, err)
	}
}

// TestServerLargeLookup asks for more events than one statement can name.
func TestServerLargeLookup(t *testing.T) {
	_, conn := olaptest.Start(t)
	l := makeLog(rand.New(rand.NewPCG(51, 52)), 5000)
	s := testSink(t, NewClickHouse(conn), memory.DefaultAllocator, func(event.Record) {})
	s.cfg.FlushBytes, s.cfg.FlushIdle = 1400<<10, time.Hour
	if err := live(t.Context(), t, s, l, map[string]int64{}, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	wantLog(t, conn, l, l.topics())
	if s.Stats().Repeats == 0 {
		t.Error("no repeats in the log")
	}
}

// TestClaimsOutliveTheServer: after a restart the last claim holds and no earlier one. The engine reads a Join table's claims back
// in no particular order, so an earlier one must not be there any more, or a writer that was stopped long ago could go on.
func TestClaimsOutliveTheServer(t *testing.T) {
	dir := t.TempDir()
	p := Place{"spade.rollouts", 3}
	const claims = 64
	server := clickhousetest.StartIn(t, dir)
	conn := olaptest.Open(t, server)
	olaptest.Install(t, conn)
	for i := range claims {
		if err := NewClickHouse(conn).Claim(t.Context(), []Place{p, {"spade.regrets", int32(i)}}, Writer{Group: Group, Token: uint64(i + 1)}); err != nil {
			t.Fatal(err)
		}
	}
	for restart := range 2 {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		if err := server.Shutdown(ctx); err != nil {
			t.Fatal(err)
		}
		cancel()
		server = clickhousetest.StartIn(t, dir)
		store := NewClickHouse(olaptest.Open(t, server))
		for i := range claims {
			w := Writer{Group: Group, Token: uint64(i + 1)}
			if err := store.Plan(t.Context(), p, w, Range{0, int64(i)}); errors.Is(err, ErrFenced) != (i+1 < claims) {
				t.Errorf("restart %d, claim %d of %d: %v", restart+1, i+1, claims, err)
			}
			if err := store.Plan(t.Context(), Place{"spade.regrets", int32(i)}, w, Range{0, 1}); err != nil {
				t.Errorf("restart %d: the claim on another partition is lost: %v", restart+1, err)
			}
		}
	}
}

// TestARangeThatIsThereInPart: a plan is repeated of which some events have rows already, here and there and under other tokens, as
// after a restore or under another version of the program. The others are inserted, and those are left alone.
func TestARangeThatIsThereInPart(t *testing.T) {
	_, conn := olaptest.Start(t)
	l := makeLog(rand.New(rand.NewPCG(81, 82)), 40)
	rng := rand.New(rand.NewPCG(1, 1))
	some := &memoryLog{events: map[string][]event.Event{}, ends: l.ends}
	for topic, events := range l.events {
		for i, ev := range events {
			if i < 10 || rng.IntN(2) == 0 { // repeats keep their first record
				some.events[topic] = append(some.events[topic], ev)
			}
		}
	}
	store := NewClickHouse(conn)
	if err := live(t.Context(), t, testSink(t, store, memory.DefaultAllocator, func(event.Record) {}), firstRecordsOnly(t, some, l), map[string]int64{}, rng); err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{"TRUNCATE TABLE spade._offsets", "TRUNCATE TABLE spade._plans"} {
		if err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	w := Writer{Group: Group, Token: 5}
	for topic, events := range l.events {
		p := Place{topic, testPartition}
		whole := Range{events[0].LastOffset, events[len(events)-1].LastOffset}
		if err := errors.Join(store.Claim(t.Context(), []Place{p}, w), store.Plan(t.Context(), p, w, whole)); err != nil {
			t.Fatal(err)
		}
	}
	s := testSink(t, store, memory.DefaultAllocator, func(event.Record) {})
	if err := live(t.Context(), t, s, l, map[string]int64{}, rng); err != nil {
		t.Fatal(err)
	}
	wantLog(t, conn, l, l.topics())
	if got := s.Stats(); got.Repaired != int64(len(l.events)) {
		t.Errorf("%d ranges were repeated, want %d", got.Repaired, len(l.events))
	}
}

// firstRecordsOnly leaves out of a part of a log the repeats of what the whole log has before.
func firstRecordsOnly(t *testing.T, part, whole *memoryLog) *memoryLog {
	t.Helper()
	out := &memoryLog{events: map[string][]event.Event{}, ends: part.ends}
	for topic, events := range part.events {
		firsts, _ := firstRecords(t, whole.events[topic])
		for _, ev := range events {
			if slices.ContainsFunc(firsts, func(f event.Event) bool { return f.LastOffset == ev.LastOffset }) {
				out.events[topic] = append(out.events[topic], ev)
			}
		}
	}
	return out
}
