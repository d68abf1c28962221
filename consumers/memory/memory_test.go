package memory

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"go.uber.org/goleak"

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

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newStore(t testing.TB) *vector.Client {
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

// poisoned keeps what was refused.
type poisoned struct{ reasons []string }

func (p *poisoned) Event(_ context.Context, _ event.Event, reason error) error {
	p.reasons = append(p.reasons, reason.Error())
	return nil
}

func openMemory(t testing.TB, set Settings) *Memory {
	t.Helper()
	if set.Embedder == nil {
		set.Embedder = embedding.NewBuiltin()
	}
	if set.Poison == nil {
		set.Poison = &poisoned{}
	}
	m, err := New(set)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return m
}

func source(i int) string {
	return fmt.Sprintf("def reset(seed):\n    return {\"a\": %d}, \"find the %s\", {}\n\ndef f%d(x):\n    return [x%s]\n",
		i, strings.Repeat("lamp ", i%3)+fmt.Sprintf("word%d thing%d", i, i*i), i, strings.Repeat(" + x", i%7))
}

// storyline is the events of a run: environments designed and accepted or
// refused, and documents ingested and withdrawn.
type storyline struct {
	t    testing.TB
	run  uuid.UUID
	next map[string]int64
	all  []event.Event
}

func newStory(t testing.TB, name string) *storyline {
	return &storyline{t: t, run: ids.Run(name), next: map[string]int64{}}
}

func (s *storyline) put(ev event.Event, err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
	ev.Offset = s.next[ev.Topic]
	ev.LastOffset = ev.Offset
	s.next[ev.Topic]++
	s.all = append(s.all, ev)
}

func (s *storyline) env(iteration, slot int) uuid.UUID { return ids.Env(s.run, iteration, slot, 0) }

func (s *storyline) designed(iteration, slot int, code string) {
	env := s.env(iteration, slot)
	sum := sha256.Sum256([]byte(code))
	s.put(event.New(topics.EnvKey(s.run, env), env, 0, &spadepb.EnvironmentDesigned{
		RunId: s.run[:], EnvId: env[:], Iteration: int32(iteration), Slot: int32(slot), Runtime: "starlark", Code: code, CodeSha256: sum[:],
	}, nil))
}

func (s *storyline) accepted(iteration, slot int, title string) {
	env := s.env(iteration, slot)
	s.put(event.New(topics.EnvKey(s.run, env), env, 0, &spadepb.EnvironmentAccepted{
		RunId: s.run[:], EnvId: env[:], Iteration: int32(iteration), Slot: int32(slot), Title: title, Kind: "game",
	}, nil))
}

func (s *storyline) rejected(iteration, slot int) {
	env := s.env(iteration, slot)
	s.put(event.New(topics.EnvKey(s.run, env), env, 0, &spadepb.EnvironmentRejected{
		RunId: s.run[:], EnvId: env[:], Iteration: int32(iteration), Slot: int32(slot), Stage: "parse",
	}, nil))
}

func (s *storyline) document(text string) uuid.UUID {
	sum := sha256.Sum256([]byte(text))
	id := ids.Document(sum[:])
	s.put(event.New(id.String(), id, 0, &spadepb.DocumentIngested{
		DocumentId: id[:], Chunks: 1, Source: "a.md", Title: "About " + text, Text: text, Sha256: sum[:],
	}, nil))
	return id
}

func (s *storyline) withdraw(id uuid.UUID) {
	s.put(event.New(id.String(), id, 0, &spadepb.DocumentWithdrawn{DocumentId: id[:], Reason: "asked for"}, nil))
}

// tell is a story with every turn in it.
func tell(t testing.TB) (*storyline, []uuid.UUID) {
	s := newStory(t, "story")
	docs := []uuid.UUID{
		s.document("Suspension bridges hang from cables anchored at both ends."),
		s.document("Bread dough rises because yeast makes gas."),
		s.document("The cables of a bridge carry the deck."),
	}
	for i := range 4 {
		for slot := range 3 {
			s.designed(i, slot, source(3*i+slot))
		}
		s.accepted(i, 0, "zero")
		s.rejected(i, 1)
		if i == 1 {
			s.withdraw(docs[2])
		}
		if i < 3 {
			s.accepted(i, 2, "two")
		} else {
			s.rejected(i, 2)
		}
	}
	s.designed(4, 0, source(99)) // never ends
	return s, docs
}

// TestEndToEnd goes through the real broker and the real store.
func TestEndToEnd(t *testing.T) {
	b := bustest.Open(t)
	client := b.Client(t)
	ctx := t.Context()
	if err := client.EnsureTopics(ctx, topics.All(4)); err != nil {
		t.Fatal(err)
	}
	s, docs := tell(t)
	if err := client.Append(ctx, s.all...); err != nil {
		t.Fatal(err)
	}
	store := newStore(t)
	m := openMemory(t, Settings{Store: store, Poison: &deadletter.Writer{Log: client, Source: observe.NewSource("memory"), Consumer: "memory"}})
	consume := func(m *Memory, until func(context.Context) error) {
		t.Helper()
		ctx, cancel := context.WithCancel(ctx)
		ended := make(chan error, 1)
		go func() { ended <- client.Consume(ctx, m.Group(), Topics(), nil, m.Handler()) }()
		wait, stop := context.WithTimeout(ctx, 20*time.Second)
		defer stop()
		err := until(wait)
		cancel()
		if err := errors.Join(err, <-ended); err != nil {
			t.Fatal(err)
		}
	}
	scope := []uuid.UUID{s.run}
	whole := func(m *Memory) func(context.Context) error {
		return func(ctx context.Context) error {
			if _, _, _, err := m.Nearest(ctx, scope, 9, 7, source(0)); err != nil {
				return err
			}
			if _, err := m.Documents(ctx, docs); err != nil {
				return err
			}
			for {
				got, err := m.Documents(ctx, docs[2:])
				if err != nil || got[0].Withdrawn {
					return err
				}
				time.Sleep(10 * time.Millisecond)
			}
		}
	}
	consume(m, whole(m))
	first := points(t, m)
	for _, e := range []struct {
		before Before
		want   int64
	}{{Before{}, 0}, {Before{Iteration: 1}, 2}, {Before{Iteration: 1, Slot: 1}, 3}, {Before{Iteration: 1, Slot: 3}, 4}, {Before{Iteration: 9}, 7}} {
		if n := remembered(t, m, scope, e.before); n != e.want {
			t.Errorf("before %v: %d, want %d", e.before, n, e.want)
		}
	}
	near, err := m.Near(ctx, Seen{scope, Before{Iteration: 2}, 4}, 0, source(5), true, 2)
	if err != nil || len(near) != 2 || near[0].EnvID != s.env(1, 2) || near[0].Similarity != 1 || near[0].Title != "two" {
		t.Errorf("%v, %v", near, err)
	}
	if near, err = m.Near(ctx, Seen{scope, Before{Iteration: 9}, 7}, 2, source(5), true, 9); err != nil || len(near) != 3 {
		t.Errorf("since 2: %v, %v", near, err)
	}
	if near, err = m.Near(ctx, Seen{[]uuid.UUID{ids.Run("other")}, Before{Iteration: 9}, 0}, 0, source(5), true, 9); err != nil || len(near) != 0 {
		t.Errorf("another run's: %v, %v", near, err)
	}
	near, err = m.Near(ctx, Seen{scope, Before{Iteration: 9}, 7}, 0, "Which word5 is a thing25?", false, 1)
	if err != nil || len(near) != 1 || near[0].EnvID != s.env(1, 2) {
		t.Errorf("prose: %v, %v", near, err)
	}
	found, err := m.Corpus(docs).Near(ctx, "a bridge on cables", 5)
	if err != nil || len(found) != 2 || found[0].ID != docs[0] || found[1].ID != docs[1] {
		t.Errorf("%v, %v", found, err)
	}
	if found, err = m.Corpus(docs[1:2]).Near(ctx, "a bridge on cables", 5); err != nil || len(found) != 1 || found[0].ID != docs[1] {
		t.Errorf("among one: %v, %v", found, err)
	}
	// A lost store is projected again from the first record, and comes out equal.
	for _, name := range []string{m.environments.Name, m.documents.Name} {
		if err := store.DeleteCollection(ctx, name); err != nil {
			t.Fatal(err)
		}
	}
	group := m.Group()
	again := openMemory(t, Settings{Store: store})
	if again.Group() == group {
		t.Fatal("the lost store's group goes on")
	}
	consume(again, whole(again))
	if second := points(t, again); !reflect.DeepEqual(first, second) {
		t.Errorf("rebuilt:\n%v\nwas:\n%v", second, first)
	}
}

// points is everything that a memory holds.
func points(t testing.TB, m *Memory) map[uuid.UUID]vector.Hit {
	t.Helper()
	out := map[uuid.UUID]vector.Hit{}
	for _, c := range []string{m.environments.Name, m.documents.Name} {
		if err := m.set.Store.Scroll(t.Context(), c, vector.Condition{}, func(h vector.Hit) error {
			out[h.ID] = h
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return out
}

// remembered counts the environments of a scope before the bound that the projection has come to.
func remembered(t *testing.T, m *Memory, scope []uuid.UUID, before Before) int64 {
	t.Helper()
	n, err := m.set.Store.Count(t.Context(), m.environments.Name, within(scope, 0, before))
	if err != nil {
		t.Fatal(err)
	}
	return n
}
