package rebuild

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/olap/olaptest"
)

// TestRebuild: a warehouse that is rebuilt equals the one that was, in whatever state that is by then.
func TestRebuild(t *testing.T) {
	w := newWorld(t)
	w.story()
	w.drain()
	w.check()
	want := w.contents()
	for _, tc := range []struct {
		name   string
		damage []string
	}{
		{"whole", nil},
		{"emptied", []string{"TRUNCATE TABLE spade.steps", "TRUNCATE TABLE spade._offsets", "TRUNCATE TABLE spade.rollouts"}},
		{"doubled", []string{"INSERT INTO spade.rollouts SELECT * FROM spade.rollouts"}},
		{"a table dropped", []string{"DROP TABLE spade.steps", "DROP TABLE spade._plans"}},
		{"another shape", []string{"ALTER TABLE spade.steps DROP COLUMN info", "ALTER TABLE spade._offsets DROP COLUMN generation"}},
		{"all dropped", []string{"DROP DATABASE spade SYNC"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, sql := range tc.damage {
				if err := w.conn.Exec(t.Context(), sql); err != nil {
					t.Fatal(err)
				}
			}
			r := w.rebuild(w.conn)
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			w.check()
			if got := w.contents(); !maps.Equal(got, want) {
				t.Errorf("contents %v, want %v", got, want)
			}
			p := r.Progress()
			if p.Stage != Done || p.Records != p.Total || p.Events == 0 || p.Repeats == 0 || p.Dead == 0 || p.Rows == 0 {
				t.Errorf("progress %+v", p)
			}
		})
	}
	// The sink goes on from there.
	w.rollouts(10)
	w.drain()
	w.check()
}

// TestRebuildOfNothing: neither a log nor a warehouse is needed.
func TestRebuildOfNothing(t *testing.T) {
	w := newWorld(t)
	if err := w.conn.Exec(t.Context(), "DROP DATABASE spade SYNC"); err != nil {
		t.Fatal(err)
	}
	if err := w.rebuild(w.conn).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := olaptest.Value[uint64](t, w.conn, "SELECT count() FROM spade.rollouts"); n != 0 {
		t.Errorf("%d rows", n)
	}
	w.story()
	w.drain()
	w.check()
}

// TestKilledAnywhere kills a rebuild before each of its statements that matter. Queries are answered from then on as before,
// and the next rebuild, or a mere Repair, makes the warehouse whole.
func TestKilledAnywhere(t *testing.T) {
	w := newWorld(t)
	w.story()
	w.drain()
	want := w.contents()
	sent, points := w.killPoints()
	for i, at := range points {
		conn := &mortal{Conn: w.conn, left: at}
		if err := w.rebuild(conn).Run(t.Context()); !errors.Is(err, errKilled) {
			t.Fatalf("killed at %d: %v", at, err)
		}
		// Whatever is exchanged and what is not, the rows are all there, once.
		if got := w.contents(); !maps.Equal(got, want) {
			t.Fatalf("killed at %d, %v, want %v", at, got, want)
		}
		next := w.rebuild(w.conn)
		repair := next.Repair
		if i%3 == 0 {
			repair = next.Run
		}
		if err := repair(t.Context()); err != nil {
			t.Fatalf("killed at %d, then: %v", at, err)
		}
		if i%4 == 0 {
			w.rollouts(3)
			w.drain()
			w.check()
			want = w.contents()
		}
		if got := w.contents(); !maps.Equal(got, want) || t.Failed() {
			t.Fatalf("killed at %d before %.80q: %v, want %v", at, sent[at], got, want)
		}
	}
	w.check()
}

// TestStalledAnywhere stalls a rebuild before each of its statements that matter, until another process, which takes it for dead,
// has repaired what it found. What it sends from then on does no harm.
func TestStalledAnywhere(t *testing.T) {
	w := newWorld(t)
	w.story()
	w.drain()
	want := w.contents()
	sent, points := w.killPoints()
	for _, at := range points {
		conn := &mortal{Conn: w.conn, left: at, stalled: func() {
			if err := w.rebuild(w.conn).Repair(t.Context()); err != nil {
				t.Error(err)
			}
		}}
		err := w.rebuild(conn).Run(t.Context())
		t.Logf("stalled before %.60q: %v", sent[at], err)
		if got := w.contents(); !maps.Equal(got, want) {
			t.Fatalf("stalled before %.80q: %v, want %v", sent[at], got, want)
		}
		if w.check(); t.Failed() {
			t.Fatalf("stalled before %.80q", sent[at])
		}
	}
}

// TestStrayExchange: one statement of a process that is taken for dead is executed while another one completes its switch. It does
// not bring the damaged table back.
func TestStrayExchange(t *testing.T) {
	w := newWorld(t)
	w.story()
	w.drain()
	want := w.contents()
	if err := w.conn.Exec(t.Context(), "TRUNCATE TABLE spade.steps"); err != nil {
		t.Fatal(err)
	}
	reached, resume, repaired := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	other := &mortal{Conn: w.conn, left: 1 << 30, before: "CREATE OR REPLACE TABLE spade._claims", stalled: func() {
		close(reached)
		<-resume
	}}
	stray := &mortal{Conn: w.conn, left: 1 << 30, before: "EXCHANGE TABLES spade.steps "}
	stray.stalled = func() {
		go func() { repaired <- w.rebuild(other).Repair(t.Context()) }()
		<-reached
		stray.left = 1
	}
	err := w.rebuild(stray).Run(t.Context())
	close(resume)
	if repair := <-repaired; err == nil || repair != nil {
		t.Fatalf("stray: %v; repair: %v", err, repair)
	}
	if got := w.contents(); !maps.Equal(got, want) {
		t.Errorf("contents %v, want %v", got, want)
	}
	w.check()
}

// killPoints runs a rebuild and says what statements it sent, and which of them to stop at: one of those that make the tables
// beside, the first of each kind from the fence on, and some exchanges.
func (w *world) killPoints() (sent []string, points []int) {
	w.tb.Helper()
	whole := &mortal{Conn: w.conn, left: 1 << 30}
	if err := w.rebuild(whole).Run(w.tb.Context()); err != nil {
		w.tb.Fatal(err)
	}
	sent = whole.sent
	sealed := slices.IndexFunc(sent, func(sql string) bool { return strings.Contains(sql, "CREATE OR REPLACE TABLE") })
	if sealed < 1 || len(sent)-sealed < 30 {
		w.tb.Fatalf("%d statements, the fence is number %d", len(sent), sealed)
	}
	points = []int{sealed / 2}
	exchanges := 0
	last := ""
	for at := sealed; at < len(sent); at++ {
		kind := strings.Join(strings.Fields(sent[at])[:3], " ")
		if exchange := strings.HasPrefix(kind, "EXCHANGE"); exchange {
			if exchanges++; exchanges%7 == 2 {
				points = append(points, at)
			}
		} else if kind != last && kind != "CREATE TABLE IF" && !strings.HasPrefix(kind, "SELECT") {
			points = append(points, at)
		}
		last = kind
	}
	return sent, points
}

// TestBrokenOff: a rebuild whose context ends takes back what it began.
func TestBrokenOff(t *testing.T) {
	w := newWorld(t)
	w.story()
	w.drain()
	want := w.contents()
	ctx, cancel := context.WithCancel(t.Context())
	r := w.rebuild(w.conn)
	install := r.set.Install
	r.set.Install = func(ctx context.Context) error { cancel(); return install(context.WithoutCancel(ctx)) }
	if err := r.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	if got := w.contents(); !maps.Equal(got, want) {
		t.Errorf("contents %v, want %v", got, want)
	}
	w.check()
}

// TestLiveWriters: sinks go on while the warehouse is rebuilt under them, again and again, and queries never see a row twice.
func TestLiveWriters(t *testing.T) {
	w := newWorld(t)
	w.story()
	w.drain()
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for range 2 {
		s := w.sink()
		go func() { ended <- s.Run(ctx) }()
	}
	looked := make(chan error, 1)
	go func() { looked <- w.look(ctx) }()
	for range 3 {
		appended := make(chan struct{})
		go func() {
			defer close(appended)
			for range 30 {
				w.rollouts(20)
				time.Sleep(10 * time.Millisecond) // the log grows while it is read
			}
		}()
		if err := w.rebuild(w.conn).Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		<-appended
	}
	if err := w.sink().Drain(t.Context(), w.ends()); err != nil {
		t.Fatal(err)
	}
	stop()
	for range 2 {
		if err := <-ended; err != nil {
			t.Error(err)
		}
	}
	if err := <-looked; err != nil {
		t.Error(err)
	}
	w.check()
}

// look asks for repeated rows, and for rows that were there and are not any more, until ctx ends.
func (w *world) look(ctx context.Context) error {
	var most uint64
	for ctx.Err() == nil {
		var n, distinct uint64
		err := w.conn.QueryRow(context.WithoutCancel(ctx), "SELECT count(), uniqExact(rollout_id, step) FROM spade.steps").Scan(&n, &distinct)
		switch {
		case err != nil:
			return err
		case n != distinct:
			return errors.New("a query saw rows twice")
		case n < most:
			return errors.New("a query saw fewer rows than the one before")
		}
		most = n
		time.Sleep(time.Millisecond)
	}
	return nil
}
