package supervisor

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/wire"
)

// lastAddr is where the fake server listened the last time.
const lastAddr = "127.0.0.1:1"

// fake is a server that starts once its folder and its port are free.
type fake struct {
	r    *running
	addr string
}

func (f fake) Start(context.Context) error {
	switch {
	case f.r.locked.Load():
		return fmt.Errorf("start: %w", clickhouse.ErrLocked)
	case f.r.taken.Load() && f.addr == lastAddr:
		return fmt.Errorf("start: %w", syscall.EADDRINUSE)
	}
	return nil
}
func (f fake) Addr() string                 { return f.addr }
func (fake) Shutdown(context.Context) error { return nil }
func (fake) Done() <-chan struct{}          { return nil }

// running is a runner of a fake under test.
type running struct {
	*runner
	locked, taken, asked atomic.Bool
	states               chan wire.Service
	log                  bytes.Buffer // read once the runner has ended
	stop                 func()
}

func newRunner(every time.Duration) *running {
	r := &running{states: make(chan wire.Service, 10_000)}
	r.runner = &runner{
		name: "clickhouse", log: slog.New(slog.NewTextHandler(&r.log, nil)), again: make(chan struct{}, 1),
		make:     func(_, addr string) (service, error) { return fake{r, addr}, nil },
		clear:    func() string { return "" },
		notify:   func(st wire.Service) { r.states <- st },
		wanted:   r.asked.Load,
		patience: 500 * time.Millisecond, every: every,
	}
	return r
}

func (r *running) begin(t *testing.T) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { r.run(ctx, lastAddr) })
	r.stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(r.stop)
}

// until waits for a state.
func (r *running) until(t *testing.T, phase wire.Phase) wire.Service {
	t.Helper()
	timeout := time.After(20 * time.Second)
	for {
		select {
		case st := <-r.states:
			if st.Phase == phase {
				return st
			}
		case <-timeout:
			t.Fatalf("it is never %s", phase)
		}
	}
}

func TestALockedFolderIsTriedAgainForAsLongAsALeaseAsks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(10 * time.Millisecond)
		r.locked.Store(true)
		r.begin(t)
		if st := <-r.states; st.Phase != wire.Restarting {
			t.Errorf("at first it is %+v", st)
		}
		if st := r.until(t, wire.Failed); !st.Retrying || st.Error == "" {
			t.Errorf("it failed as %+v", st)
		}
		r.asked.Store(true)
		r.until(t, wire.Failed)
		r.locked.Store(false)
		r.until(t, wire.Ready)
		r.stop()
		for line, n := range map[string]int{"service is started again": 1, "service cannot start": 1, "service runs again": 1, "level=": 3} {
			if got := strings.Count(r.log.String(), line); got != n {
				t.Errorf("%q is there %d times:\n%s", line, got, r.log.String())
			}
		}
	})
}

func TestAClientThatAsksAnewIsNotKeptWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(time.Hour)
		r.locked.Store(true)
		r.begin(t)
		r.until(t, wire.Failed)
		r.locked.Store(false)
		r.poke()
		r.until(t, wire.Ready)
	})
}

// Clients that outlive their supervisor keep trying the port that they know.
func TestThePortOfTheLastTimeIsWaitedFor(t *testing.T) {
	for name, tc := range map[string]struct {
		free time.Duration
		want string
	}{
		"let go of":       {time.Second, lastAddr},
		"kept by another": {time.Hour, anyPort},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := newRunner(time.Hour)
				r.taken.Store(true)
				defer time.AfterFunc(tc.free, func() { r.taken.Store(false) }).Stop()
				r.begin(t)
				if st := r.until(t, wire.Ready); st.Addr != tc.want {
					t.Errorf("it listens on %s, want %s", st.Addr, tc.want)
				}
			})
		})
	}
}
