package app

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/consumers/memory"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/topics"
)

// fatal is a connection of a process that is killed when it sends a statement that contains a text, the nth one of them.
type fatal struct {
	olap.Conn
	text string
	left int
}

func (f *fatal) Exec(ctx context.Context, sql string, args ...any) error {
	if strings.Contains(sql, f.text) {
		f.left--
	}
	if f.left <= 0 {
		f.left = 0 // nothing is sent from now on
		return errKilled
	}
	return f.Conn.Exec(ctx, sql, args...)
}

var errKilled = errors.New("the process was killed")

// A rebuild that is killed while it keeps writers from writing does so for seconds: the writers repair it by themselves.
func TestARebuildThatWasKilledIsMended(t *testing.T) {
	at := servers(t, t.TempDir())
	l := small(t, plugin(t))
	submit(t, l, at)
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	open := func() *Services {
		s, err := Open(t.Context(), l, at, log)
		must(t, err)
		t.Cleanup(func() { must(t, s.Close(context.WithoutCancel(t.Context()))) })
		return s
	}
	live := open()
	must(t, live.StartSinks(t.Context()))
	must(t, live.awaitWarehouse(t.Context()))
	for _, tc := range []struct {
		stage, text string
		nth         int
	}{
		{"catching up", "._offsets (", 1},
		{"deciding", "._switch SELECT", 1},
		{"switching", "EXCHANGE", 1},
		{"half switched", "EXCHANGE", 7},
		{"releasing", "CREATE OR REPLACE", 2},
		{"dropping", "DROP DATABASE", 1},
	} {
		killed := open()
		killed.warehouse = &fatal{Conn: killed.warehouse, text: tc.text, left: tc.nth}
		r, err := killed.RebuildWarehouse()
		must(t, err)
		if err := r.Run(t.Context()); !errors.Is(err, errKilled) {
			t.Fatalf("%s: %v", tc.stage, err)
		}
		l.Run.Name = tc.stage
		submit(t, l, at)
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		err = live.awaitWarehouse(ctx)
		cancel()
		if err != nil {
			t.Fatalf("%s: writers do not go on: %v", tc.stage, err)
		}
		w, err := live.warehouseRebuild()
		must(t, err)
		if sealed, err := w.Sealed(t.Context()); err != nil || sealed {
			t.Errorf("%s: sealed: %t, %v", tc.stage, sealed, err)
		}
	}
}

// A rebuild of the memory that is killed after its switch leaves points missing for seconds: whoever projects rebuilds it.
func TestAMemoryRebuildThatWasKilledIsMended(t *testing.T) {
	at := servers(t, t.TempDir())
	l := small(t, plugin(t))
	submit(t, l, at)
	s, err := Open(t.Context(), l, at, slog.New(slog.DiscardHandler))
	must(t, err)
	t.Cleanup(func() { must(t, s.Close(context.WithoutCancel(t.Context()))) })
	must(t, s.openMemory(t.Context()))
	ends, err := s.Bus.HighWatermarks(t.Context(), topics.Documents)
	must(t, err)
	var documents int64
	for _, end := range ends {
		documents += end
	}
	_, collection := s.memory.Collections()
	project := func(until func() bool) {
		t.Helper()
		ctx, stop := context.WithTimeout(t.Context(), time.Minute)
		defer stop()
		var g errgroup.Group
		g.Go(func() error { return s.projectMemory(ctx) })
		for !until() {
			if pause(ctx, 100*time.Millisecond) != nil {
				t.Error("it did not come to that")
				break
			}
		}
		stop()
		must(t, g.Wait())
	}
	count := func() int64 {
		n, err := s.Vectors.Count(t.Context(), collection, vector.Condition{})
		must(t, err)
		return n
	}
	project(func() bool { return count() == documents })
	_, err = s.memory.Beside(t.Context(), "dead", memory.PoisonFunc(nil))
	must(t, errors.Join(err, s.memory.Switch(t.Context(), "dead")))
	if n := count(); n != 0 || documents == 0 {
		t.Fatalf("%d documents after the switch, of %d", n, documents)
	}
	project(func() bool {
		left, err := s.memory.Leftovers(t.Context())
		must(t, err)
		return len(left) == 0
	})
	if n := count(); n != documents {
		t.Errorf("%d documents of %d", n, documents)
	}
}

// What is done exclusively is done by one at a time, however many come at the same moment, and who waits in vain is told.
func TestExclusively(t *testing.T) {
	at := servers(t, t.TempDir())
	l := small(t, plugin(t))
	submit(t, l, at)
	log := slog.New(slog.DiscardHandler)
	var working, most, done atomic.Int32
	release := make(chan struct{})
	work := func(ctx context.Context) error {
		if n := working.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer working.Add(-1)
		select {
		case <-release:
		case <-time.After(2 * lockFor):
			return errors.New("nobody was refused")
		case <-ctx.Done():
			return ctx.Err()
		}
		done.Add(1)
		return nil
	}
	var g errgroup.Group
	var busy atomic.Int32
	for range 3 {
		s, err := Open(t.Context(), l, at, log)
		must(t, err)
		g.Go(func() error {
			err := exclusively(t.Context(), s.Bus, "spade.test.lock", work)
			if errors.Is(err, ErrBusy) {
				if busy.Add(1) == 2 {
					close(release)
				}
				err = nil
			}
			return errors.Join(err, s.Close(context.WithoutCancel(t.Context())))
		})
	}
	must(t, g.Wait())
	if most.Load() != 1 || done.Load() != 1 || busy.Load() != 2 {
		t.Errorf("at most %d at once, %d done, %d busy", most.Load(), done.Load(), busy.Load())
	}
}
