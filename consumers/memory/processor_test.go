package memory

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// ledger is a claim of a test: it keeps the commits.
type ledger map[string]int64

func (l ledger) Commit(topic string, next int64) error {
	l[topic] = max(l[topic], next)
	return nil
}

// feed gives a processor the events of both topics from the committed offsets
// on, in random batches, until it is cut off by a crash or has all.
func feed(t *testing.T, r *rand.Rand, m *Memory, l ledger, log map[string][]event.Event, crash bool) {
	t.Helper()
	p := newProcessor(m, l)
	at := map[string]int64{topics.Environments: l[topics.Environments], topics.Documents: l[topics.Documents]}
	for !crash || r.IntN(6) > 0 {
		var open []string
		for topic, events := range log {
			if at[topic] < int64(len(events)) {
				open = append(open, topic)
			}
		}
		if len(open) == 0 {
			if err := p.Idle(t.Context()); err != nil {
				t.Fatal(err)
			}
			return
		}
		topic := open[r.IntN(len(open))]
		to := min(int64(len(log[topic])), at[topic]+1+r.Int64N(5))
		batch := bus.Batch{Topic: topic, Events: log[topic][at[topic]:to], Next: to, End: int64(len(log[topic]))}
		if err := p.Process(t.Context(), batch); err != nil {
			t.Fatal(err)
		}
		at[topic] = to
	}
}

func byTopic(all []event.Event) map[string][]event.Event {
	out := map[string][]event.Event{}
	for _, ev := range all {
		out[ev.Topic] = append(out[ev.Topic], ev)
	}
	return out
}

// Whatever the batches, crashes and repetitions, the points are the same.
func TestAnyDeliveryGivesTheSamePoints(t *testing.T) {
	s, _ := tell(t)
	log := byTopic(s.all)
	plain := openMemory(t, Settings{Store: newStore(t)})
	feed(t, rand.New(rand.NewPCG(0, 0)), plain, ledger{}, log, false)
	want := points(t, plain)
	if len(want) != 7+3 {
		t.Fatalf("%d points", len(want))
	}
	store := newStore(t)
	for seed := range uint64(25) {
		r := rand.New(rand.NewPCG(seed, 1))
		m := openMemory(t, Settings{Store: store})
		l := ledger{}
		for range r.IntN(4) {
			feed(t, r, m, l, log, true)
			if r.IntN(3) == 0 {
				l = ledger{} // the group's offsets were lost
			}
		}
		feed(t, r, m, l, log, false)
		if got := points(t, m); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d: %d points differ from %d", seed, len(got), len(want))
		}
		// The design that never ended is still needed, nothing before it is.
		if l[topics.Environments] != int64(len(log[topics.Environments]))-1 || l[topics.Documents] != int64(len(log[topics.Documents])) {
			t.Fatalf("seed %d: committed %v", seed, l)
		}
		for _, name := range []string{m.environments.Name, m.documents.Name} {
			if err := store.DeleteCollection(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// The first record about a thing wins, also over a restart.
func TestTheFirstRecordWins(t *testing.T) {
	m := openMemory(t, Settings{Store: newStore(t)})
	l := ledger{}
	s := newStory(t, "twice")
	s.designed(0, 0, source(1))
	s.accepted(0, 0, "first")
	r := rand.New(rand.NewPCG(1, 1))
	feed(t, r, m, l, byTopic(s.all), false)
	s.designed(0, 0, source(2))
	s.accepted(0, 0, "second")
	feed(t, r, m, l, byTopic(s.all), false)
	near, err := m.Near(t.Context(), Seen{[]uuid.UUID{s.run}, Before{Iteration: 1}, 1}, 0, source(1), true, 5)
	if err != nil || len(near) != 1 || near[0].Title != "first" || near[0].Similarity != 1 {
		t.Errorf("%v, %v", near, err)
	}
	if l[topics.Environments] != 4 {
		t.Errorf("committed %v", l)
	}
}

// An acceptance that is repeated after a restart comes without its design, which is committed: it is no dead letter.
func TestARepeatAfterARestartIsNoDeadLetter(t *testing.T) {
	bad := &poisoned{}
	m := openMemory(t, Settings{Store: newStore(t), Poison: bad})
	l := ledger{}
	s := newStory(t, "repeat")
	s.designed(0, 0, source(1))
	s.accepted(0, 0, "first")
	r := rand.New(rand.NewPCG(1, 1))
	feed(t, r, m, l, byTopic(s.all), false)
	s.accepted(0, 0, "again")
	feed(t, r, m, l, byTopic(s.all), false)
	if len(bad.reasons) != 0 || l[topics.Environments] != 3 {
		t.Errorf("%q, committed %v", bad.reasons, l)
	}
}

func TestWhatCannotBeProjectedIsKeptAside(t *testing.T) {
	bad := &poisoned{}
	m := openMemory(t, Settings{Store: newStore(t), Poison: bad})
	s := newStory(t, "bad")
	s.accepted(0, 0, "without its design")
	s.put(event.Event{Topic: topics.Environments, Type: "spade.v1.Nonsense", Payload: []byte{1}}, nil)
	s.put(event.Event{Topic: topics.Environments, Type: "spade.v1.EnvironmentAccepted", Payload: []byte{0xff}}, nil)
	s.designed(1, 0, source(1))
	s.accepted(1, 0, "good")
	l := ledger{}
	feed(t, rand.New(rand.NewPCG(1, 1)), m, l, byTopic(s.all), false)
	orphaned := slices.ContainsFunc(bad.reasons, func(r string) bool { return strings.Contains(r, "without its design") })
	if len(bad.reasons) != 3 || !orphaned || l[topics.Environments] != 5 {
		t.Errorf("%q, committed %v", bad.reasons, l)
	}
	if n := remembered(t, m, []uuid.UUID{s.run}, Before{Iteration: 9}); n != 1 {
		t.Errorf("%d are remembered", n)
	}
}

func TestAnAbandonedDesignIsLetGo(t *testing.T) {
	m := openMemory(t, Settings{Store: newStore(t)})
	s := newStory(t, "abandoned")
	s.designed(0, 0, source(0))
	s.next[topics.Environments] += abandonedAfter + 1
	s.designed(0, 1, source(1))
	l := ledger{}
	p := newProcessor(m, l)
	if err := p.Process(t.Context(), bus.Batch{Topic: topics.Environments, Events: s.all, Next: s.next[topics.Environments]}); err != nil {
		t.Fatal(err)
	}
	if l[topics.Environments] != abandonedAfter+2 {
		t.Errorf("committed %v", l)
	}
}

// What has ended is remembered as long as its design may be repeated by those that work on it, and not for the life of a worker.
func TestEndsAreForgotten(t *testing.T) {
	p := newProcessor(openMemory(t, Settings{Store: newStore(t)}), ledger{})
	s := newStory(t, "ends")
	for i := range 5 {
		s.rejected(0, i)
		s.next[topics.Environments] += abandonedAfter / 2
	}
	for _, ev := range s.all {
		if err := p.fold(ev); err != nil {
			t.Fatal(err)
		}
	}
	if len(p.ended.at) != 2 || len(p.ended.order) != 2 || !p.ended.has(s.env(0, 4)) || p.ended.has(s.env(0, 2)) {
		t.Errorf("%d ends are remembered", len(p.ended.at))
	}
}

// A vector of nothing holds the offsets back for so long and no longer.
func TestAVectorOfNothingIsADeadLetter(t *testing.T) {
	for _, kind := range []string{documentKind, environmentKind} {
		bad := &poisoned{}
		s := newStory(t, "nothing")
		m := openMemory(t, Settings{
			Store: newStore(t), Embedder: &fickle{}, Keep: true, Log: recorder{s}, Source: observe.NewSource("test"), Poison: bad,
		})
		l := ledger{}
		p := newProcessor(m, l)
		id := uuid.New()
		ev, err := event.New(id.String(), id, 0, &spadepb.EmbeddingComputed{
			EntityId: id[:], EntityKind: kind, Model: (&fickle{}).Model(), Dim: int32((&fickle{}).Dim()), Vector: make([]float32, (&fickle{}).Dim()),
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		ev.Offset = 3
		far := int64(4 + abandonedAfter)
		for i, b := range []bus.Batch{
			{Topic: topics.Documents, Events: []event.Event{ev}, Next: 4, End: far},
			{Topic: topics.Environments, Next: 1, End: 1},
			{Topic: topics.Documents, Next: far, End: far},
			{Topic: topics.Environments, Next: 2, End: 9},
			{Topic: topics.Environments, Next: 9, End: 9},
		} {
			if err := p.Process(t.Context(), b); err != nil {
				t.Fatal(err)
			}
			// A document stands before its vector; the other topic may have the environment as long as it is not read to its end.
			gone := i == 4 || i >= 2 && kind == documentKind
			if (len(bad.reasons) == 1) != gone || (l[topics.Documents] == far) != gone {
				t.Errorf("%s, batch %d: letters %q, committed %v", kind, i, bad.reasons, l)
			}
		}
	}
}

// fickle answers another vector at every call, as an endpoint may, and can be
// switched off.
type fickle struct {
	calls int
	off   bool
	asked []string
}

func (*fickle) Model() string { return "fickle" }
func (*fickle) Dim() int      { return 3 }

func (f *fickle) Embed(_ context.Context, texts []string, _ embedding.Kind) ([][]float32, error) {
	if f.off {
		return nil, embedding.ErrEndpointUnavailable
	}
	f.asked = append(f.asked, texts...)
	out := make([][]float32, len(texts))
	for i := range texts {
		f.calls++
		out[i] = vector.Normalize([]float32{1, float32(f.calls), 2})
	}
	return out, nil
}

// recorder is the log of a test: what is appended comes after what is there.
type recorder struct{ s *storyline }

func (r recorder) Append(_ context.Context, events ...event.Event) error {
	for _, ev := range events {
		r.s.put(ev, nil)
	}
	return nil
}

// Vectors of an endpoint are events: the points are written from them, and a
// rebuild asks for nothing.
func TestVectorsOfAnEndpointAreKept(t *testing.T) {
	s, docs := tell(t)
	endpoint := &fickle{}
	store := newStore(t)
	set := Settings{Store: store, Embedder: endpoint, Keep: true, Log: recorder{s}, Source: observe.NewSource("test")}
	m := openMemory(t, set)
	l := ledger{}
	for seed := range uint64(8) { // crashes in between, so that some are asked for twice
		feed(t, rand.New(rand.NewPCG(seed, 2)), m, l, byTopic(s.all), seed%2 == 1)
	}
	want := points(t, m)
	if len(want) != 7+3 {
		t.Fatalf("%d points", len(want))
	}
	if l[topics.Documents] != s.next[topics.Documents] || l[topics.Environments] != s.next[topics.Environments]-1 {
		t.Errorf("committed %v of %v", l, s.next)
	}
	endpoint.off = true
	appended := len(s.all)
	var again *Memory
	for seed := range uint64(8) {
		for _, name := range []string{m.environments.Name, m.documents.Name} {
			if err := store.DeleteCollection(t.Context(), name); err != nil {
				t.Fatal(err)
			}
		}
		again, l = openMemory(t, set), ledger{}
		r := rand.New(rand.NewPCG(seed, 9))
		for range seed {
			feed(t, r, again, l, byTopic(s.all), true)
		}
		feed(t, r, again, l, byTopic(s.all), false)
		if got := points(t, again); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d rebuilt:\n%v\nwas:\n%v", seed, got, want)
		}
	}
	if len(s.all) != appended {
		t.Error("a rebuild appended events")
	}
	got, err := again.Documents(t.Context(), docs[2:])
	if err != nil || !got[0].Withdrawn || got[0].Text != "" {
		t.Errorf("%v, %v", got, err)
	}
}

func TestAnEndpointIsNotShownWithdrawnTexts(t *testing.T) {
	s, _ := tell(t)
	endpoint := &fickle{}
	m := openMemory(t, Settings{Store: newStore(t), Embedder: endpoint, Keep: true, Log: recorder{s}, Source: observe.NewSource("test")})
	feed(t, rand.New(rand.NewPCG(1, 1)), m, ledger{}, byTopic(s.all), false)
	if len(endpoint.asked) != 7+2 || slices.Contains(endpoint.asked, "The cables of a bridge carry the deck.") {
		t.Errorf("asked for %q", endpoint.asked)
	}
}

func TestAVectorOfAnotherSizeIsKeptAside(t *testing.T) {
	bad := &poisoned{}
	m := openMemory(t, Settings{
		Store: newStore(t), Embedder: &fickle{}, Keep: true, Log: recorder{}, Source: observe.NewSource("test"), Poison: bad,
	})
	s := newStory(t, "size")
	id := s.document("text")
	s.put(event.New(id.String(), id, 0, &spadepb.EmbeddingComputed{EntityId: id[:], EntityKind: "document", Model: "fickle", Dim: 2, Vector: []float32{1, 2}}, nil))
	p := newProcessor(m, ledger{})
	if err := p.Process(t.Context(), bus.Batch{Topic: topics.Documents, Events: s.all, Next: 2}); err != nil {
		t.Fatal(err)
	}
	if len(bad.reasons) != 1 || !strings.Contains(bad.reasons[0], "holds vectors of 3") {
		t.Errorf("%q", bad.reasons)
	}
}

// Long lists of allowed documents give what short ones give.
func TestNearDocumentsAmongMany(t *testing.T) {
	m := openMemory(t, Settings{Store: newStore(t)})
	s := newStory(t, "many")
	var allowed []uuid.UUID
	for i := range 700 {
		id := s.document(fmt.Sprintf("subject%d with words about lamps and rooms%d", i, i%5))
		if i%2 == 0 {
			allowed = append(allowed, id)
		}
	}
	feed(t, rand.New(rand.NewPCG(1, 1)), m, ledger{}, byTopic(s.all), false)
	got, err := m.Corpus(allowed).Near(t.Context(), "subject33 words", 4)
	if err != nil || len(got) != 4 {
		t.Fatalf("%v, %v", got, err)
	}
	q, err := m.embed(t.Context(), "subject33 words", embedding.Document)
	if err != nil {
		t.Fatal(err)
	}
	var ids []uuid.UUID
	for _, id := range allowed {
		ids = append(ids, documentPoint(id))
	}
	want, err := m.set.Store.Search(t.Context(), m.documents.Name, q, vector.HasID(ids...), 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range want {
		if documentPoint(got[i].ID) != want[i].ID || got[i].Score != want[i].Score {
			t.Errorf("rank %d: %v, want %v", i, got[i], want[i])
		}
	}
}

func TestWaitingEndsWithItsContext(t *testing.T) {
	m := openMemory(t, Settings{Store: newStore(t)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Documents(ctx, []uuid.UUID{uuid.New()}); err == nil {
		t.Error("a document that is not there was found")
	}
	if _, err := m.Corpus([]uuid.UUID{uuid.New()}).Near(ctx, "x", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("a document that is not there was waited for: %v", err)
	}
	if _, _, _, err := m.Nearest(ctx, nil, 1, 1, "x"); err == nil {
		t.Error("an environment that is not there was found")
	}
}

func TestNewWantsItsParts(t *testing.T) {
	if _, err := New(Settings{}); err == nil {
		t.Error("nothing was enough")
	}
	if _, err := New(Settings{Store: newStore(t), Embedder: embedding.NewBuiltin(), Poison: &poisoned{}, Keep: true}); err == nil {
		t.Error("keeping vectors without a log was accepted")
	}
}
