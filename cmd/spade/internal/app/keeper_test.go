package app

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"

	"github.com/seed256f7767/spade/plugins/host"
)

// kept starts a keeper of the native plugin. fail makes the replacements that it names, from 0, fail; a replacement waits
// for release.
func kept(t *testing.T, release <-chan struct{}, fail ...int) *keeper {
	t.Helper()
	k, err := newKeeper(t.Context(), plugin(t), func(context.Context, *host.Plugin) error { return nil }, slog.New(slog.DiscardHandler))
	must(t, err)
	start, n := k.start, -1
	k.start = func(ctx context.Context) (*host.Plugin, error) {
		select {
		case <-release:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		n++
		for _, f := range fail {
			if f == n {
				return nil, errors.New("no room")
			}
		}
		return start(ctx)
	}
	t.Cleanup(func() { must(t, k.Shutdown(context.WithoutCancel(t.Context()))) })
	return k
}

// crash is a call that finds the first plugin crashed.
func crash(first *host.Plugin) func(*host.Plugin) error {
	return func(p *host.Plugin) error {
		if p == first {
			return &host.CrashError{Exit: "killed"}
		}
		return nil
	}
}

func released() <-chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}

// The call that saw the crash is given up while the plugin is replaced, as that of a worker that is killed at the same time.
func TestAReplacementOutlivesTheCallThatSawTheCrash(t *testing.T) {
	release := make(chan struct{})
	k := kept(t, release)
	ctx, cancel := context.WithCancel(t.Context())
	first := k.plugin
	err := k.call(ctx, func(p *host.Plugin) error {
		cancel()
		return crash(first)(p)
	})
	if _, crashed := errors.AsType[*host.CrashError](err); !crashed {
		t.Errorf("the call that was given up: %v", err)
	}
	close(release)
	if err := k.call(t.Context(), crash(first)); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

func TestAReplacementThatFailedIsTriedAgain(t *testing.T) {
	k := kept(t, released(), 0)
	first := k.plugin
	if err := k.call(t.Context(), crash(first)); err == nil {
		t.Error("the plugin could not be started, and the call succeeded")
	}
	if err := k.call(t.Context(), crash(first)); err != nil {
		t.Errorf("the next call: %v", err)
	}
}

// To calls that another's crash ends, their own looks cancelled.
func TestACallThatAReplacementEndsIsMadeAgain(t *testing.T) {
	k := kept(t, released())
	first := k.plugin
	var calls sync.WaitGroup
	for range 8 {
		calls.Go(func() {
			saw := false
			err := k.call(t.Context(), func(p *host.Plugin) error {
				if p != first {
					return nil
				}
				if !saw {
					saw = true
					k.crashed(p)
					return context.Canceled
				}
				return crash(first)(p)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	calls.Wait()
}

func TestACallsOwnErrorIsReturned(t *testing.T) {
	k := kept(t, released())
	own, calls := errors.New("invalid"), 0
	err := k.call(t.Context(), func(*host.Plugin) error {
		calls++
		return own
	})
	if !errors.Is(err, own) || calls != 1 {
		t.Errorf("%d calls: %v", calls, err)
	}
}
