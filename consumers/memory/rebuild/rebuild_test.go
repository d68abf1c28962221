package rebuild

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/consumers/memory"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/embedded/qdrant"
	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// store is a vector store of a test.
func store(t *testing.T) *vector.Client {
	t.Helper()
	key := secret.New("test")
	s, err := qdrant.New(qdrant.Config{Dir: t.TempDir(), Addr: "127.0.0.1:0", APIKey: key}, qdrant.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	c, err := vector.New(vector.Config{Addr: s.Addr(), APIKey: key}, vector.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(c.Close(), s.Shutdown(context.Background())); err != nil {
			t.Error(err)
		}
	})
	return c
}

// mind is a memory, its log, and what a projection in a group has made of it.
type mind struct {
	tb    testing.TB
	log   *bus.Client
	store *vector.Client
	live  *memory.Memory
	stop  func()
}

func newMind(t *testing.T) *mind {
	t.Helper()
	client := bustest.Open(t).Client(t)
	if err := client.EnsureTopics(t.Context(), topics.All(partitions)); err != nil {
		t.Fatal(err)
	}
	m := &mind{tb: t, log: client, store: store(t)}
	m.live = m.open()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- client.Consume(ctx, m.live.Group(), memory.Topics(), nil, m.live.Handler()) }()
	m.stop = func() {
		cancel()
		if err := <-done; err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	return m
}

func (m *mind) open() *memory.Memory {
	m.tb.Helper()
	out, err := memory.New(memory.Settings{
		Store: m.store, Embedder: embedding.NewBuiltin(),
		Poison: &deadletter.Writer{Log: m.log, Source: observe.NewSource("memory"), Consumer: "memory"},
	})
	if err != nil {
		m.tb.Fatal(err)
	}
	if err := out.Open(m.tb.Context()); err != nil {
		m.tb.Fatal(err)
	}
	return out
}

const partitions = 2

func (m *mind) append(events ...event.Event) {
	m.tb.Helper()
	if err := m.log.Append(m.tb.Context(), events...); err != nil {
		m.tb.Fatal(err)
	}
}

// documents are ingested; every third is withdrawn, and every sixth then ingested again.
func (m *mind) documents(n int) []event.Event {
	m.tb.Helper()
	var out []event.Event
	add := func(ev event.Event, err error) {
		if err != nil {
			m.tb.Fatal(err)
		}
		out = append(out, ev)
	}
	for i := range n {
		id := ids.Document(fmt.Appendf(nil, "document %d", i))
		add(event.New(id.String(), id, 0, &spadepb.DocumentIngested{DocumentId: id[:], Text: fmt.Sprint("text ", i), Title: "t"}, nil))
		if i%3 == 0 {
			add(event.New(id.String(), id, 0, &spadepb.DocumentWithdrawn{DocumentId: id[:]}, nil))
		}
		if i%6 == 0 {
			add(event.New(id.String(), id, 1, &spadepb.DocumentIngested{DocumentId: id[:], Text: fmt.Sprint("text again ", i), Title: "t"}, nil))
		}
	}
	return out
}

func testLogger(tb testing.TB) *slog.Logger {
	return slog.New(slog.NewTextHandler(tb.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
}

var mindRun = ids.Run("mind")

// accept appends designs of one iteration and their acceptances.
func (m *mind) accept(iteration, n int) {
	m.tb.Helper()
	var events []event.Event
	for slot := range n {
		env := ids.Env(mindRun, iteration, slot, 0)
		key := topics.EnvKey(mindRun, env)
		designed, err := event.New(key, env, 0, &spadepb.EnvironmentDesigned{
			RunId: mindRun[:], EnvId: env[:], Iteration: int32(iteration), Slot: int32(slot), Code: fmt.Sprintf("def reset(seed): return %d, %d", iteration, slot),
		}, nil)
		if err != nil {
			m.tb.Fatal(err)
		}
		accepted, err := event.New(key, env, 0, &spadepb.EnvironmentAccepted{
			RunId: mindRun[:], EnvId: env[:], Iteration: int32(iteration), Slot: int32(slot), Title: "t", Kind: "game",
		}, nil)
		if err != nil {
			m.tb.Fatal(err)
		}
		events = append(events, designed, accepted)
	}
	m.append(events...)
}

// nearest waits until everything before an iteration is remembered, and asks what is nearest.
func (m *mind) nearest(of *memory.Memory, iteration int, remembered int64) {
	m.tb.Helper()
	_, similarity, ok, err := of.Nearest(m.tb.Context(), []uuid.UUID{mindRun}, int32(iteration), remembered, "def reset(seed): return 0, 1")
	if err != nil || !ok || similarity < 0.5 {
		m.tb.Fatalf("nearest: %f, %t, %v", similarity, ok, err)
	}
}

// points are all that the live collections hold.
func (m *mind) points() map[string]string {
	m.tb.Helper()
	environments, documents := m.live.Collections()
	out := map[string]string{}
	for _, name := range []string{environments, documents} {
		err := m.store.Scroll(m.tb.Context(), name, vector.Condition{}, func(h vector.Hit) error {
			out[h.ID.String()] = fmt.Sprint(h.Vector[:8], h.Payload)
			return nil
		})
		if err != nil {
			m.tb.Fatal(err)
		}
	}
	return out
}

func (m *mind) rebuild() *Memory {
	m.tb.Helper()
	r, err := New(Config{}, Settings{Log: m.log, Memory: m.open(), Logger: testLogger(m.tb)})
	if err != nil {
		m.tb.Fatal(err)
	}
	return r
}

// TestRebuildOfTheMemory: the points come out the same, and a process that reads and projects meanwhile notices nothing.
func TestRebuildOfTheMemory(t *testing.T) {
	m := newMind(t)
	defer m.stop()
	m.append(m.documents(40)...)
	m.accept(0, 20)
	m.nearest(m.live, 1, 20)
	if _, err := m.live.Documents(t.Context(), []uuid.UUID{ids.Document([]byte("document 39"))}); err != nil {
		t.Fatal(err)
	}
	m.settled()
	want := m.points()
	r := m.rebuild()
	if err := r.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if p := r.Progress(); p.Stage != Done || p.Records != p.Total || p.Events == 0 {
		t.Errorf("progress %+v", p)
	}
	if got := m.points(); !maps.Equal(got, want) {
		t.Errorf("%d points, want %d", len(got), len(want))
	}
	m.nearest(m.live, 1, 20)
	// The process from before and a new one go on in one group.
	if group := m.open().Group(); group != m.live.Group() {
		t.Errorf("group %s, was %s", group, m.live.Group())
	}
	m.accept(1, 5)
	m.nearest(m.live, 2, 25)
	m.nearest(m.open(), 2, 25)
}

// settled waits until the group has projected the log to its end.
func (m *mind) settled() {
	m.tb.Helper()
	for _, topic := range memory.Topics() {
		ends, err := m.log.HighWatermarks(m.tb.Context(), topic)
		for behind := true; behind && err == nil; {
			var at map[int32]int64
			at, err = m.log.CommittedOffsets(m.tb.Context(), m.live.Group(), topic)
			behind = false
			for p, end := range ends {
				behind = behind || at[p] < end
			}
			time.Sleep(10 * time.Millisecond)
		}
		if err != nil {
			m.tb.Fatal(err)
		}
	}
}

// filledMind is a mind of some documents and environments, all of them projected, and its points.
func filledMind(t *testing.T) (m *mind, points map[string]string) {
	t.Helper()
	m = newMind(t)
	m.append(m.documents(10)...)
	m.accept(0, 10)
	m.nearest(m.live, 1, 10)
	m.settled()
	return m, m.points()
}

// TestRebuildOfALostMemory: points that were deleted come back, and what a rebuild that was killed left is deleted.
func TestRebuildOfALostMemory(t *testing.T) {
	m, want := filledMind(t)
	defer m.stop()
	if _, err := m.open().Beside(t.Context(), "killed", nil); err != nil {
		t.Fatal(err)
	}
	environments, _ := m.live.Collections()
	var lost []uuid.UUID
	for id := range want {
		lost = append(lost, uuid.MustParse(id))
	}
	slices.SortFunc(lost, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	if err := m.store.Delete(t.Context(), environments, lost...); err != nil {
		t.Fatal(err)
	}
	if err := m.rebuild().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := m.points(); !maps.Equal(got, want) {
		t.Errorf("%d points, want %d", len(got), len(want))
	}
	if left, err := m.live.Sweep(t.Context()); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}

// TestMemoryWhileItGrows: what is accepted while the memory is rebuilt is remembered, whichever collection it was written to.
func TestMemoryWhileItGrows(t *testing.T) {
	m := newMind(t)
	defer m.stop()
	const iterations, each = 6, 5
	grown := make(chan struct{})
	go func() {
		defer close(grown)
		for k := range iterations {
			m.accept(k, each)
			m.nearest(m.live, k+1, int64((k+1)*each))
		}
	}()
	for done := false; !done; {
		if err := m.rebuild().Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		select {
		case <-grown:
			done = true
		default:
		}
	}
	m.nearest(m.live, iterations, iterations*each)
}

// stalling is a log that does something else when it is asked for its ends for the nth time.
type stalling struct {
	*bus.Client
	left    int
	instead func()
}

func (s *stalling) HighWatermarks(ctx context.Context, topic string) (map[int32]int64, error) {
	if s.left--; s.left == 0 {
		s.instead()
	}
	return s.Client.HighWatermarks(ctx, topic)
}

// TestAnAttemptThatFailsForgetsNothing: what a rebuild left that was killed after its switch says that points are missing, until they
// are there again.
func TestAnAttemptThatFailsForgetsNothing(t *testing.T) {
	m, want := filledMind(t)
	defer m.stop()
	_, err := m.live.Beside(t.Context(), "killed", memory.PoisonFunc(nil))
	if err := errors.Join(err, m.live.Switch(t.Context(), "killed")); err != nil {
		t.Fatal(err)
	}
	left, err := m.live.Leftovers(t.Context())
	if err != nil || len(left) == 0 {
		t.Fatalf("left: %v, %v", left, err)
	}
	ctx, end := context.WithCancel(t.Context())
	r, err := New(Config{}, Settings{Log: &stalling{Client: m.log, left: 1, instead: end}, Memory: m.open(), Logger: testLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the attempt: %v", err)
	}
	if still, err := m.live.Leftovers(t.Context()); err != nil || !slices.Equal(still, left) {
		t.Errorf("left: %v, before the attempt %v, %v", still, left, err)
	}
	if err := m.rebuild().Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := m.points(); !maps.Equal(got, want) {
		t.Errorf("%d points, want %d", len(got), len(want))
	}
	if still, err := m.live.Leftovers(t.Context()); err != nil || len(still) > 0 {
		t.Errorf("left: %v, %v", still, err)
	}
}

// TestStalled: a rebuild that was taken for dead, and whose collections are gone therefore, leaves the memory alone.
func TestStalled(t *testing.T) {
	m := newMind(t)
	defer m.stop()
	m.accept(0, 10)
	m.settled()
	want := m.points()
	log := &stalling{Client: m.log, left: 3, instead: func() {
		if err := m.rebuild().Run(t.Context()); err != nil {
			t.Error(err)
		}
	}}
	r, err := New(Config{}, Settings{Log: log, Memory: m.open(), Logger: testLogger(t)})
	if err != nil {
		t.Fatal(err)
	}
	err = r.Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "is not there any more") || log.left > 0 {
		t.Errorf("err %v, %d calls left", err, log.left)
	}
	if got := m.points(); !maps.Equal(got, want) {
		t.Errorf("%d points, want %d", len(got), len(want))
	}
	m.nearest(m.live, 1, 10)
}

// While one collection takes the place of another, nobody is answered from less than the log holds: neither who has read before nor
// who comes now.
func TestNobodyReadsWhatIsNotWhole(t *testing.T) {
	m := newMind(t)
	defer m.stop()
	m.append(m.documents(3)...)
	m.accept(0, 20)
	m.nearest(m.live, 1, 20)
	reader, ctx := m.open(), t.Context()
	m.nearest(reader, 1, 20)
	_, err := m.live.Beside(ctx, "empty", memory.PoisonFunc(nil))
	if err := errors.Join(err, m.live.Switch(ctx, "empty")); err != nil {
		t.Fatal(err)
	}
	m.nearest(reader, 1, 20) // of the collection that it knows
	ask := func(of *memory.Memory) error {
		ctx, cancel := context.WithTimeout(ctx, 300*time.Millisecond)
		defer cancel()
		_, _, _, err := of.Nearest(ctx, []uuid.UUID{mindRun}, 1, 20, "def reset(seed): return 0, 1")
		_, docErr := of.Corpus([]uuid.UUID{ids.Document([]byte("document 1"))}).Near(ctx, "text", 1)
		return errors.Join(err, docErr)
	}
	if err := ask(m.open()); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a collection of nothing answered: %v", err)
	}
	if _, err := m.live.Sweep(ctx); err != nil {
		t.Fatal(err)
	}
	if err := ask(reader); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a collection of nothing answered whoever had read another: %v", err)
	}
	if err := m.rebuild().Run(ctx); err != nil {
		t.Fatal(err)
	}
	for _, of := range []*memory.Memory{m.live, reader, m.open()} {
		m.nearest(of, 1, 20)
	}
}
