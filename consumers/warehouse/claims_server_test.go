package warehouse

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Many partitions are claimed at once when a group begins. The server lets claims of several processes get into each other's way,
// which claiming again mends; no claim is lost.
func TestConcurrentClaims(t *testing.T) {
	_, conn := olaptest.Start(t)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute) // a server that ends does not come back here
	defer cancel()
	const lanes, rounds = 8, 12
	var collisions atomic.Int64
	var wg sync.WaitGroup
	for n := range lanes {
		wg.Go(func() {
			store := NewClickHouse(conn)
			for round := range rounds {
				w := Writer{Group: Group, Token: uint64(n*rounds + round + 1)}
				err := store.Claim(ctx, []Place{{"topic", int32(n)}}, w)
				for errors.Is(err, ErrTransient) && ctx.Err() == nil {
					collisions.Add(1)
					err = store.Claim(ctx, []Place{{"topic", int32(n)}}, w)
				}
				if err != nil {
					t.Errorf("lane %d: %v", n, err)
					return
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d collisions", collisions.Load())
	for n := range lanes {
		var got uint64
		query := fmt.Sprintf("SELECT joinGet('%s.%s', 'writer', %s)", tables.Database, tables.ClaimsTable, tables.Quote(tables.ClaimOf("topic", int32(n))))
		if err := conn.QueryRow(t.Context(), query).Scan(&got); err != nil {
			t.Fatal(err)
		}
		if want := uint64((n + 1) * rounds); got != want {
			t.Errorf("lane %d is claimed by %d, want %d", n, got, want)
		}
	}
}

// The partitions of one process are claimed one after the other, so that none has to be claimed again.
func TestClaimsOfOneStore(t *testing.T) {
	_, conn := olaptest.Start(t)
	store := NewClickHouse(conn)
	var wg sync.WaitGroup
	for n := range 16 {
		wg.Go(func() {
			for round := range 4 {
				if err := store.Claim(t.Context(), []Place{{"topic", int32(n)}}, Writer{Group: Group, Token: uint64(round + 1)}); err != nil {
					t.Errorf("lane %d: %v", n, err)
				}
			}
		})
	}
	wg.Wait()
}

// Who gives up while claims are made takes none of the others with it.
func TestAClaimThatIsGivenUp(t *testing.T) {
	_, conn := olaptest.Start(t)
	store := NewClickHouse(conn)
	all, end := context.WithTimeout(t.Context(), 3*time.Minute) // a server that ends does not come back here
	defer end()
	var wg sync.WaitGroup
	var last [12]uint64 // token of each lane
	for n := range last {
		last[n] = uint64(1000 * n)
		wg.Go(func() {
			for round := range 6 {
				ctx, cancel := context.WithCancel(t.Context())
				if n%3 == 0 {
					time.AfterFunc(time.Duration(round)*3*time.Millisecond, cancel)
				}
				// One token a try, as the sink does: the server may still execute what others gave up.
				claim := func() error {
					last[n]++
					return store.Claim(ctx, []Place{{"topic", int32(n)}}, Writer{Group: Group, Token: last[n]})
				}
				err := claim()
				for n%3 != 0 && errors.Is(err, ErrTransient) && all.Err() == nil {
					err = claim()
				}
				if err != nil && n%3 != 0 {
					t.Errorf("lane %d: %v", n, err)
				}
				cancel()
			}
		})
	}
	wg.Wait()
	for n := range last {
		if n%3 != 0 && !holds(t, store, conn, n, last[n]) {
			t.Errorf("lane %d cannot be claimed", n)
		}
	}
}

// holds reports whether a lane is claimed under a token, or can be once more: what others gave up may have taken it away.
func holds(t *testing.T, store Store, conn olap.Conn, n int, token uint64) bool {
	t.Helper()
	place := tables.ClaimOf("topic", int32(n))
	query := fmt.Sprintf("SELECT joinGet('%s.%s', 'writer', %s)", tables.Database, tables.ClaimsTable, tables.Quote(place))
	for range 20 {
		if olaptest.Value[uint64](t, conn, query) == token {
			return true
		}
		token++
		if err := store.Claim(t.Context(), []Place{{"topic", int32(n)}}, Writer{Group: Group, Token: token}); err != nil {
			t.Fatal(err)
		}
	}
	return false
}

// hung is a server that does not answer.
type hung struct {
	olap.Conn
	once  sync.Once
	asked chan struct{}
}

func (h *hung) Exec(ctx context.Context, _ string, _ ...any) error {
	h.once.Do(func() { close(h.asked) })
	<-ctx.Done()
	return ctx.Err()
}

// A claim that waits for others until its time is over is made again, like one that was sent and not answered.
func TestAClaimThatWaitedInVain(t *testing.T) {
	conn := &hung{asked: make(chan struct{})}
	store := NewClickHouse(conn)
	claim := func(n int32, most time.Duration) error {
		ctx, cancel := context.WithTimeout(t.Context(), most)
		defer cancel()
		return store.Claim(ctx, []Place{{"topic", n}}, Writer{Group: Group, Token: uint64(n + 1)})
	}
	first := make(chan error, 1)
	go func() { first <- claim(0, 300*time.Millisecond) }()
	<-conn.asked
	if err := claim(1, 50*time.Millisecond); !errors.Is(err, ErrTransient) {
		t.Errorf("who waited: %v", err)
	}
	if err := <-first; !errors.Is(err, ErrTransient) {
		t.Errorf("who was not answered: %v", err)
	}
}
