package memory

import (
	"context"
	"errors"
	"fmt"
	"maps"
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
	"github.com/seed256f7767/spade/schemas/topics"
)

var errCrash = errors.New("crash")

// mishap is a store whose call number at goes wrong: "before" ends the writer before the call is carried out, "after" when it
// has been. "stall" runs other first, as a process does that is stopped for a while, and goes on as if nothing had happened;
// "lost" learns after the call that the partition is another's.
type mishap struct {
	Store
	at, calls int
	mode      string
	other     func()
}

func (m *mishap) do(fn func() error) error {
	m.calls++
	if m.calls != m.at {
		return fn()
	}
	switch m.mode {
	case "before":
		return errCrash
	case "stall":
		m.other()
		return fn()
	case "lost":
		m.other()
	}
	return errors.Join(fn(), errCrash)
}

func (m *mishap) Insert(ctx context.Context, collection string, points []vector.Point) error {
	return m.do(func() error { return m.Store.Insert(ctx, collection, points) })
}

func (m *mishap) Upsert(ctx context.Context, collection string, points []vector.Point) error {
	return m.do(func() error { return m.Store.Upsert(ctx, collection, points) })
}

func (m *mishap) Exists(ctx context.Context, collection string, ids ...uuid.UUID) (out map[uuid.UUID]bool, err error) {
	err = m.do(func() error { out, err = m.Store.Exists(ctx, collection, ids...); return err })
	return out, err
}

func (m *mishap) Get(ctx context.Context, collection string, ids ...uuid.UUID) (out []vector.Hit, err error) {
	err = m.do(func() error { out, err = m.Store.Get(ctx, collection, ids...); return err })
	return out, err
}

// shortStory has one of each: a document that stays, one that is withdrawn, one that is withdrawn and comes again, environments
// that are accepted, refused and accepted twice, and what can never be projected.
func shortStory(t *testing.T) *storyline {
	s := newStory(t, "short")
	s.document("stays")
	gone, back := s.document("is withdrawn"), s.document("comes again")
	s.designed(0, 0, source(1))
	s.designed(0, 1, source(2))
	s.accepted(0, 0, "first")
	s.withdraw(back)
	s.rejected(0, 1)
	s.document("comes again")
	s.withdraw(gone)
	s.accepted(0, 0, "again")
	s.accepted(3, 3, "without its design")
	s.put(event.Event{Topic: topics.Documents, Type: "spade.v1.DocumentIngested", Payload: []byte{0xff}}, nil)
	return s
}

// deliver gives a processor all events from the commits on, size records of each topic in turn.
func deliver(ctx context.Context, m *Memory, l ledger, log map[string][]event.Event, size int64) error {
	p := newProcessor(m, l)
	at := map[string]int64{topics.Environments: l[topics.Environments], topics.Documents: l[topics.Documents]}
	for open := true; open; {
		open = false
		for _, topic := range Topics() {
			from, end := at[topic], int64(len(log[topic]))
			to := min(end, from+size)
			if from == to {
				continue
			}
			open = true
			if err := p.Process(ctx, bus.Batch{Topic: topic, Events: log[topic][from:to], Next: to, End: end}); err != nil {
				return err
			}
			at[topic] = to
		}
	}
	return p.Idle(ctx)
}

// TestMishapsAnywhere ends or stops a writer at each of its calls, lets another one finish the log, and then lets the stopped one go
// on: in every case the points are those of the log. A writer that wakes up may not bring a withdrawn text back.
func TestMishapsAnywhere(t *testing.T) {
	log := byTopic(shortStory(t).all)
	store := newStore(t)
	clean := func(m *Memory) {
		ids := slices.Collect(maps.Keys(points(t, m)))
		err := errors.Join(store.Delete(t.Context(), m.environments.Name, ids...), store.Delete(t.Context(), m.documents.Name, ids...))
		if err != nil {
			t.Fatal(err)
		}
	}
	plain := openMemory(t, Settings{Store: store})
	if err := deliver(t.Context(), plain, ledger{}, log, 100); err != nil {
		t.Fatal(err)
	}
	want := points(t, plain)
	if len(want) != 4 {
		t.Fatalf("%d points", len(want))
	}
	clean(plain)
	good := openMemory(t, Settings{Store: store})
	for mode, size := range map[string]int64{"before": 2, "after": 2, "stall": 3, "lost": 2} {
		for at := 1; ; at++ {
			l := ledger{}
			other := func() {
				if err := deliver(t.Context(), good, l, log, 4); err != nil {
					t.Fatal(err)
				}
			}
			bad := &mishap{Store: store, at: at, mode: mode, other: other}
			stopped := *good
			stopped.set.Store = bad
			err := deliver(t.Context(), &stopped, l, log, size)
			if err != nil && !errors.Is(err, errCrash) {
				t.Fatal(err)
			}
			if mode == "before" || mode == "after" {
				other()
			}
			if got := points(t, good); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s at call %d: %s", mode, at, difference(got, want))
			}
			clean(good)
			if bad.calls < at {
				if at < 10 {
					t.Fatalf("only %d calls", bad.calls)
				}
				break
			}
		}
	}
}

func difference(got, want map[uuid.UUID]vector.Hit) string {
	for id, w := range want {
		if g, ok := got[id]; !ok || !reflect.DeepEqual(g, w) {
			return fmt.Sprintf("point %s is\n%v, want\n%v", id, g.Payload, w.Payload)
		}
	}
	return fmt.Sprintf("%d points, want %d", len(got), len(want))
}

// picky refuses one text, as an endpoint does that is given too long a one.
type picky struct {
	embedding.Embedder
	refused string
}

func (p picky) Embed(ctx context.Context, texts []string, kind embedding.Kind) ([][]float32, error) {
	if slices.Contains(texts, p.refused) {
		return nil, fmt.Errorf("%w: status 400: too long", embedding.ErrTextRefused)
	}
	return p.Embedder.Embed(ctx, texts, kind)
}

// TestARefusedTextIsKeptAside: a text that the embedder will never take goes to the dead letters, the others around it are
// projected, and it counts as remembered, or designers would wait for it.
func TestARefusedTextIsKeptAside(t *testing.T) {
	for _, keep := range []bool{false, true} {
		s := newStory(t, "refused")
		for slot := range 3 {
			s.designed(0, slot, source(slot+1))
			s.accepted(0, slot, "title")
		}
		dead := &poisoned{}
		m := openMemory(t, Settings{
			Store: newStore(t), Poison: dead, Embedder: picky{embedding.NewBuiltin(), source(2)},
			Keep: keep, Log: recorder{s}, Source: observe.NewSource("test"),
		})
		l := ledger{}
		for range 2 { // what the endpoint answered is read back
			if err := deliver(t.Context(), m, l, byTopic(s.all), 100); err != nil {
				t.Fatal(err)
			}
		}
		scope := []uuid.UUID{s.run}
		if n := remembered(t, m, scope, Before{Iteration: 1}); n != 3 {
			t.Errorf("keep %v: %d remembered", keep, n)
		}
		near, err := m.Near(t.Context(), Seen{scope, Before{Iteration: 1}, 3}, 0, source(3), true, 1)
		if err != nil || len(near) != 1 || near[0].EnvID != s.env(0, 2) {
			t.Errorf("keep %v: %v, %v", keep, near, err)
		}
		if len(dead.reasons) != 1 || l[topics.Environments] != 6 {
			t.Errorf("keep %v: dead letters %q, committed %v", keep, dead.reasons, l)
		}
	}
}

// TestATopicThatWasMadeAgain: the memory neither goes on in the middle of the new topic nor commits there.
func TestATopicThatWasMadeAgain(t *testing.T) {
	ids := map[string]uuid.UUID{topics.Documents: {1}, topics.Environments: {2}}
	m := openMemory(t, Settings{Store: newStore(t), Identify: func(context.Context, ...string) (map[string]uuid.UUID, error) {
		return maps.Clone(ids), nil
	}})
	opened, err := m.Handler().Assigned(t.Context(), &bus.Claim{})
	if err != nil {
		t.Fatal(err)
	}
	p := opened.(*processor)
	l := ledger{}
	p.claim = l
	log := byTopic(shortStory(t).all)[topics.Documents]
	batch := func(from, to int64) bus.Batch {
		return bus.Batch{Topic: topics.Documents, Events: log[from:to], Next: to, End: int64(len(log))}
	}
	if err := p.Process(t.Context(), batch(0, 1)); err != nil {
		t.Fatal(err)
	}
	ids[topics.Documents] = uuid.UUID{3}
	err = p.Process(t.Context(), batch(1, 3))
	if !errors.Is(err, ErrMadeAgain) || !strings.Contains(err.Error(), topics.Documents) || !strings.Contains(err.Error(), "spade rebuild --memory") {
		t.Errorf("error %v", err)
	}
	if l[topics.Documents] != 1 {
		t.Errorf("committed %v", l)
	}
	if got := points(t, m); len(got) != 1 {
		t.Errorf("%d points", len(got))
	}
}
