package supervisor

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/wire"
)

// fake is a server that starts once its folder is free.
type fake struct{ locked *atomic.Bool }

func (f fake) Start(context.Context) error {
	if f.locked.Load() {
		return fmt.Errorf("start: %w", clickhouse.ErrLocked)
	}
	return nil
}
func (fake) Addr() string                   { return "127.0.0.1:1" }
func (fake) Shutdown(context.Context) error { return nil }
func (fake) Done() <-chan struct{}          { return nil }

// running is a runner of a fake under test.
type running struct {
	*runner
	locked, asked atomic.Bool
	states        chan wire.Service
	log           bytes.Buffer // read once the runner has ended
	stop          func()
}

func startRunner(t *testing.T, every time.Duration) *running {
	t.Helper()
	r := &running{states: make(chan wire.Service, 10_000)}
	r.locked.Store(true)
	r.runner = &runner{
		name: "clickhouse", log: slog.New(slog.NewTextHandler(&r.log, nil)), again: make(chan struct{}, 1),
		make:     func(string, string) (service, error) { return fake{&r.locked}, nil },
		clear:    func() string { return "" },
		notify:   func(st wire.Service) { r.states <- st },
		wanted:   r.asked.Load,
		patience: 500 * time.Millisecond, every: every,
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	wg.Go(func() { r.run(ctx, "") })
	r.stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	t.Cleanup(r.stop)
	return r
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
	r := startRunner(t, 10*time.Millisecond)
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
}

func TestAClientThatAsksAnewIsNotKeptWaiting(t *testing.T) {
	r := startRunner(t, time.Hour)
	r.until(t, wire.Failed)
	r.locked.Store(false)
	r.poke()
	r.until(t, wire.Ready)
}
