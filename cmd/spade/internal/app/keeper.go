package app

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/telemetry"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/host"
)

// maxRestarts is how often in a row a call is made again in a plugin that was started again.
const maxRestarts = 3

// restartTimeout bounds starting a plugin again and giving it its state: a model takes long to load.
const restartTimeout = 5 * time.Minute

// keeper keeps a trainer plugin running: one that crashed is replaced by another with the same state. A replacement belongs
// to the keeper and not to the call that saw the crash, which may be given up meanwhile.
type keeper struct {
	info    plugins.Info // of the first plugin; the others are the same program
	restore func(ctx context.Context, p *host.Plugin) error
	start   func(ctx context.Context) (*host.Plugin, error)
	log     *slog.Logger
	told    *telemetry.Process // nil: nobody watches

	life context.Context //nolint:containedctx // of the replacements; Shutdown ends it
	end  context.CancelFunc
	work sync.WaitGroup

	mu       sync.Mutex // guards the following
	plugin   *host.Plugin
	broken   bool          // the plugin has crashed and is not replaced yet
	starting chan struct{} // closed when the replacement under way has ended; nil: none is
	err      error         // of the last replacement
	failures int           // replacements since a call succeeded
}

// newKeeper starts the plugin, so that its name is known. restore gives a new one the state that calls have built up.
func newKeeper(
	ctx context.Context, command []string, restore func(context.Context, *host.Plugin) error, log *slog.Logger,
) (*keeper, error) {
	k := &keeper{restore: restore, log: log}
	k.start = func(ctx context.Context) (*host.Plugin, error) {
		return host.Launch(ctx, host.Config{Command: command}, host.Settings{Logger: log})
	}
	p, err := k.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("start trainer plugin: %w", err)
	}
	k.plugin, k.info = p, p.Info()
	k.life, k.end = context.WithCancel(context.WithoutCancel(ctx))
	return k, nil
}

// call calls fn with the plugin, again in another one when it crashed. What fn did in a crashed plugin is lost with it, so
// that calling it once more is safe.
func (k *keeper) call(ctx context.Context, fn func(*host.Plugin) error) error {
	for attempt := 0; ; attempt++ {
		p, err := k.running(ctx)
		if err != nil {
			return err
		}
		if err = fn(p); err == nil {
			k.works()
			return nil
		}
		if attempt == maxRestarts || ctx.Err() != nil {
			return err
		}
		if _, crashed := errors.AsType[*host.CrashError](err); crashed {
			k.crashed(p)
			continue
		}
		// Of several calls that a crash ends, the first to see it has the plugin replaced; to the others their call looks
		// cancelled or closed.
		if k.is(p) {
			return err
		}
	}
}

// running is the plugin, once it is not being replaced. One that could not be replaced is tried again.
func (k *keeper) running(ctx context.Context) (*host.Plugin, error) {
	k.mu.Lock()
	if !k.broken {
		defer k.mu.Unlock()
		return k.plugin, nil
	}
	k.replace()
	starting := k.starting
	k.mu.Unlock()
	select {
	case <-starting:
	case <-ctx.Done():
		return nil, fmt.Errorf("wait for the trainer plugin: %w", ctx.Err())
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.broken {
		return nil, k.err
	}
	return k.plugin, nil
}

func (k *keeper) works() {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failures = 0
}

// is reports whether p is the plugin that calls go to.
func (k *keeper) is(p *host.Plugin) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.plugin == p && !k.broken
}

// crashed has p replaced, unless it is already.
func (k *keeper) crashed(p *host.Plugin) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.plugin == p {
		k.broken = true
		k.replace()
	}
}

// replace begins a replacement unless one is under way. k.mu must be held.
func (k *keeper) replace() {
	if k.starting != nil {
		return
	}
	starting, old, wait := make(chan struct{}), k.plugin, time.Duration(k.failures)*200*time.Millisecond
	k.starting = starting
	k.failures++
	k.work.Go(func() {
		p, err := k.revive(old, wait)
		k.mu.Lock()
		defer k.mu.Unlock()
		if err == nil {
			k.plugin, k.broken = p, false
		}
		k.err, k.starting = err, nil
		close(starting)
	})
}

// revive starts another plugin with the state of the old one.
func (k *keeper) revive(old *host.Plugin, wait time.Duration) (*host.Plugin, error) {
	ctx, cancel := context.WithTimeout(k.life, restartTimeout)
	defer cancel()
	select {
	case <-time.After(min(wait, 10*time.Second)):
	case <-ctx.Done():
		return nil, fmt.Errorf("start trainer plugin again: %w", ctx.Err())
	}
	k.log.Warn("trainer plugin crashed, starting it again")
	k.told.PluginRestarted()
	_ = old.Shutdown(ctx) // it is dead: this only tidies up after it
	p, err := k.start(ctx)
	if err != nil {
		return nil, fmt.Errorf("start trainer plugin again: %w", err)
	}
	if err := k.restore(ctx, p); err != nil {
		return nil, errors.Join(fmt.Errorf("restore trainer plugin: %w", err), p.Shutdown(context.WithoutCancel(ctx)))
	}
	return p, nil
}

// Shutdown ends the plugin, and a replacement that is under way.
func (k *keeper) Shutdown(ctx context.Context) error {
	k.end()
	k.work.Wait()
	k.mu.Lock()
	p := k.plugin
	k.mu.Unlock()
	return p.Shutdown(ctx)
}
