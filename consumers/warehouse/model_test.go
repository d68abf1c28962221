package warehouse

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// nowhere is a Log that nobody may use: these tests deliver by hand.
type nowhere struct{ Log }

func (nowhere) TopicIDs(context.Context, ...string) (map[string]uuid.UUID, error) { return nil, nil }

func testSink(t testing.TB, store Store, mem memory.Allocator, dead func(event.Record)) *Sink {
	t.Helper()
	s, err := New(Config{FlushBytes: 600 + 6*eventBytes, FlushIdle: time.Nanosecond, FlushMax: time.Hour}, Settings{
		Log: nowhere{}, Store: store, Topics: topics.All(4), Memory: mem,
		DeadLetter: func(_ context.Context, r event.Record, _ error) error { dead(r); return nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// live is one life of a writer: it opens the partition and is given the log from the committed offsets on, in batches of
// random size, topic by topic in random order. It ends with the log, or with an error.
func live(ctx context.Context, t testing.TB, s *Sink, l *memoryLog, committed map[string]int64, rng *rand.Rand) error {
	claim := newFakeClaim(t, l, committed)
	p, err := s.open(ctx, claim, Group, 1, testPartition)
	if err != nil {
		return err
	}
	at := map[string]int64{}
	for _, topic := range l.topics() {
		at[topic] = claim.start[topic]
	}
	for !finished(at, l) {
		topic := l.topics()[rng.IntN(len(l.topics()))]
		b := bus.Batch{Topic: topic, Partition: testPartition, Next: min(at[topic]+1+rng.Int64N(9), l.ends[topic]), End: l.ends[topic]}
		for _, ev := range l.events[topic] {
			if ev.LastOffset >= at[topic] && ev.LastOffset < b.Next {
				b.Events = append(b.Events, ev)
			}
		}
		at[topic] = b.Next
		claim.delivered[topic] = b.Next
		if err := p.Process(ctx, b); err != nil {
			p.Lost()
			return err
		}
		if rng.IntN(4) == 0 {
			if err := p.Idle(ctx); err != nil {
				p.Lost()
				return err
			}
		}
	}
	return p.Revoked(ctx)
}

func finished(at map[string]int64, l *memoryLog) bool {
	for topic, end := range l.ends {
		if at[topic] < end {
			return false
		}
	}
	return true
}

// TestCrashAnywhere kills a writer before and after each thing it asks of the warehouse, and loses each answer, and wants the
// next writer to leave exactly what the log says.
func TestCrashAnywhere(t *testing.T) {
	l := makeLog(rand.New(rand.NewPCG(1, 2)), 28)
	want := foldJSON(t, l)
	for _, mode := range []string{"before", "after", "lost", "forgotten"} {
		t.Run(mode, func(t *testing.T) {
			for at := 1; ; at++ {
				store := newFakeStore(t, 1000)
				f := &faulty{Store: store, at: at, mode: mode}
				runToEnd(t, f, l, rand.New(rand.NewPCG(3, uint64(at))))
				if got := store.content(); !reflect.DeepEqual(got, want) {
					t.Fatalf("crash at call %d: %s", at, firstDifference(got, want))
				}
				if f.calls < at {
					if at < 20 {
						t.Fatalf("only %d calls", f.calls)
					}
					return
				}
			}
		})
	}
}

// runToEnd starts writers until one reaches the end of the log.
func runToEnd(t testing.TB, store Store, l *memoryLog, rng *rand.Rand) {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	committed := map[string]int64{}
	for life := 0; ; life++ {
		err := live(t.Context(), t, testSink(t, store, mem, func(event.Record) {}), l, committed, rng)
		if err == nil {
			return
		}
		if !errors.Is(err, errCrash) || life > 3 {
			t.Fatal(err)
		}
	}
}

func firstDifference(got, want map[string][]string) string {
	for table := range want {
		g, w := got[table], want[table]
		for _, row := range w {
			if !slices.Contains(g, row) {
				return fmt.Sprintf("%s: %d rows, want %d; missing %s", table, len(g), len(w), row)
			}
		}
		if len(g) != len(w) {
			return fmt.Sprintf("%s: %d rows, want %d", table, len(g), len(w))
		}
	}
	return "a table that the log does not fill"
}

// TestRandomLives runs many logs under many crashes, one after another.
func TestRandomLives(t *testing.T) {
	for seed := range uint64(25) {
		rng := rand.New(rand.NewPCG(seed, 5))
		l := makeLog(rng, 40)
		store := newFakeStore(t, 1000)
		committed := map[string]int64{}
		for range 6 {
			modes := []string{"before", "after", "lost"}
			f := &faulty{Store: store, at: 1 + rng.IntN(60), mode: modes[rng.IntN(3)]}
			if rng.IntN(3) == 0 {
				committed = map[string]int64{} // the group's offsets are gone
			}
			err := live(t.Context(), t, testSink(t, f, memory.DefaultAllocator, func(event.Record) {}), l, committed, rng)
			if err != nil && !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
		}
		runToEnd(t, store, l, rng)
		if got, want := store.content(), foldJSON(t, l); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %s", seed, firstDifference(got, want))
		}
	}
}

// TestRebuild: the warehouse is dropped while Kafka remembers that everything was consumed.
func TestRebuild(t *testing.T) {
	l := makeLog(rand.New(rand.NewPCG(7, 8)), 50)
	committed := map[string]int64{}
	rng := rand.New(rand.NewPCG(9, 9))
	if err := live(t.Context(), t, testSink(t, newFakeStore(t, 1000), memory.DefaultAllocator, func(event.Record) {}), l, committed, rng); err != nil {
		t.Fatal(err)
	}
	if committed[topics.Rollouts] != l.ends[topics.Rollouts] {
		t.Fatalf("committed %v, log ends at %v", committed, l.ends)
	}
	fresh := newFakeStore(t, 1000)
	if err := live(t.Context(), t, testSink(t, fresh, memory.DefaultAllocator, func(event.Record) {}), l, committed, rng); err != nil {
		t.Fatal(err)
	}
	if got, want := fresh.content(), foldJSON(t, l); !reflect.DeepEqual(got, want) {
		t.Fatal(firstDifference(got, want))
	}
}

// cutStore notes how large blocks are.
type cutStore struct {
	*fakeStore
	rows map[string]int64
}

func (c *cutStore) Insert(ctx context.Context, t *tables.Table, token string, rec arrow.Record) error {
	c.rows[t.Name] = max(c.rows[t.Name], rec.NumRows())
	return c.fakeStore.Insert(ctx, t, token, rec)
}

// TestCut: what was gathered is too large for one block, so it becomes several ranges, wherever a writer crashes.
func TestCut(t *testing.T) {
	l := makeLog(rand.New(rand.NewPCG(15, 16)), 50)
	for at := 0; at < 40; at += 6 {
		store := &cutStore{newFakeStore(t, 1000), map[string]int64{}}
		f := &faulty{Store: store, at: at, mode: "after"}
		committed := map[string]int64{}
		for {
			s := testSink(t, f, memory.DefaultAllocator, func(event.Record) {})
			s.cfg.FlushBytes, s.cfg.FlushIdle, s.cut = 1<<20, time.Hour, 2000
			err := live(t.Context(), t, s, l, committed, rand.New(rand.NewPCG(1, uint64(at))))
			if err == nil {
				break
			}
			if !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
		}
		if got, want := store.content(), foldJSON(t, l); !reflect.DeepEqual(got, want) {
			t.Fatalf("crash at call %d: %s", at, firstDifference(got, want))
		}
		if store.rows["rollouts"] > 20 || store.rows["environment_events"] > 20 {
			t.Fatalf("blocks of %v rows", store.rows)
		}
	}
}

// vectors is a deterministic embedder.
type vectors struct{}

func (vectors) Model() string { return "test-2" }
func (vectors) Dim() int      { return 2 }

func (vectors) Embed(_ context.Context, texts []string, kind string) ([][]float32, error) {
	var out [][]float32
	for _, text := range texts {
		out = append(out, []float32{float32(len(text)), float32(len(kind))})
	}
	return out, nil
}

// TestEmbeddings: with an embedder, each document and design has its vector, once, also after crashes.
func TestEmbeddings(t *testing.T) {
	_, conn := olaptest.Start(t)
	l := makeLog(rand.New(rand.NewPCG(17, 18)), 30)
	f := &faulty{Store: NewClickHouse(conn), at: 25, mode: "after"}
	committed := map[string]int64{}
	for {
		s := testSink(t, f, memory.DefaultAllocator, func(event.Record) {})
		s.set.Embedder = vectors{}
		err := live(t.Context(), t, s, l, committed, rand.New(rand.NewPCG(1, 2)))
		if err == nil {
			break
		}
		if !errors.Is(err, errCrash) {
			t.Fatal(err)
		}
	}
	if rows := compareLog(t, conn, l, l.topics(), vectors{}); rows["embeddings"] < 10 {
		t.Errorf("%d vectors", rows["embeddings"])
	}
}

// TestPoison: payloads that cannot be decoded go to the dead letters, once each, and the rest moves on.
func TestPoison(t *testing.T) {
	l := makeLog(rand.New(rand.NewPCG(11, 12)), 80)
	want := map[string]bool{}
	for _, events := range l.events {
		seen := map[string]bool{}
		for _, ev := range events {
			if seen[ev.ID.String()] {
				continue
			}
			if valid(t, &ev) == nil {
				want[fmt.Sprint(ev.Topic, ev.LastOffset)] = true
				continue
			}
			seen[ev.ID.String()] = true
		}
	}
	got := map[string]bool{}
	s := testSink(t, newFakeStore(t, 1000), memory.DefaultAllocator, func(r event.Record) { got[fmt.Sprint(r.Topic, r.Offset)] = true })
	if err := live(t.Context(), t, s, l, map[string]int64{}, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 || !reflect.DeepEqual(got, want) {
		t.Errorf("dead letters %v, want %v", got, want)
	}
	if n := s.Stats().DeadLetters; int(n) != len(want) {
		t.Errorf("%d counted", n)
	}
}

// TestStalledWriter stops a writer before each of its calls, lets another one take the partition over and write more blocks
// than the server remembers tokens of, and then lets the first one go on.
func TestStalledWriter(t *testing.T) {
	l := makeLog(rand.New(rand.NewPCG(21, 22)), 24)
	want := foldJSON(t, l)
	for at := 1; ; at++ {
		store := newFakeStore(t, 1)
		calls, fenced := stall(t, store, l, at)
		if got := store.content(); !reflect.DeepEqual(got, want) {
			t.Fatalf("stopped at call %d: %s", at, firstDifference(got, want))
		}
		if calls < at {
			return
		}
		if at > 3 && fenced == 0 && calls > at+2 {
			t.Errorf("stopped at call %d of %d: nothing was refused", at, calls)
		}
	}
}

// stall runs a writer that is stopped before its call number at while another one finishes the log. It returns how many calls
// the stopped one made and how many of its flushes were refused.
func stall(t testing.TB, store Store, l *memoryLog, at int) (calls int, fenced int64) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	f := &faulty{Store: store, at: at, mode: "stop", reached: make(chan struct{}), resume: make(chan struct{})}
	// The group tells the stopped process that the partition is lost when it runs again.
	f.resumed = cancel
	s := testSink(t, f, memory.DefaultAllocator, func(event.Record) {})
	done := make(chan error, 1)
	go func() { done <- live(ctx, t, s, l, map[string]int64{}, rand.New(rand.NewPCG(1, 1))) }()
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
		return f.calls, 0
	case <-f.reached:
	}
	other := testSink(t, store, memory.DefaultAllocator, func(event.Record) {})
	if err := live(t.Context(), t, other, l, map[string]int64{}, rand.New(rand.NewPCG(2, 2))); err != nil {
		t.Fatal(err)
	}
	close(f.resume)
	if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	return f.calls, s.Stats().Fenced
}
