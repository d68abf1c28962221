package memory

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/seed256f7767/spade/internal/vector"
)

// live is the collection that reads look in, by its own name. A rebuild puts another one in its place while processes read, and for a
// moment that one lacks what was written meanwhile.
type live struct {
	of vector.Collection

	mu   sync.Mutex
	name string // empty: not known
}

// find is the collection that was live when it was last looked up.
func (l *live) find(ctx context.Context, store Store) (string, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name != "" {
		return l.name, nil
	}
	name, err := store.Behind(ctx, l.of)
	if err == nil {
		l.name = name
	}
	return name, err
}

// forget has the collection looked up again.
func (l *live) forget(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.name == name {
		l.name = ""
	}
}

// whole reads once a collection holds as many points as it must, and both are asked of one and the same collection: what was counted
// in one that a rebuild replaces says nothing about the other. Points are only added to a collection, so what was there stays. It
// waits for the projection, which comes in its own time, looking ever more slowly, and says so when that is long.
func (m *Memory) whole(ctx context.Context, l *live, want int64, count func(name string) (int64, error), read func(name string) error) error {
	const first, longest = 2 * time.Millisecond, 200 * time.Millisecond
	began, told, have := time.Now(), false, int64(0)
	for pause := first; ; pause = min(2*pause, longest) {
		name, err := l.find(ctx, m.set.Store)
		if err != nil {
			return err
		}
		if have, err = count(name); err == nil && have >= want {
			err = read(name)
			if err == nil {
				return nil
			}
		}
		if err != nil && !errors.Is(err, vector.ErrNotFound) { // a rebuild deletes what it replaced
			return err
		}
		if err != nil || pause > underWay {
			l.forget(name)
		}
		if !told && time.Since(began) > patience {
			told = true
			m.set.Logger.Warn("the memory lacks what a designer has to see, waiting for whoever fills it (spade worker memory, or spade run)",
				"collection", name, "holds", have, "needed", want)
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return fmt.Errorf("%s holds %d of %d: %w", l.of.Kind, have, want, context.Cause(ctx))
		}
	}
}

const (
	// patience is how long a read waits before it says so.
	patience = 10 * time.Second
	// underWay is a pause up to which the projection is merely on its way, and no reason to look up again where it writes.
	underWay = 10 * time.Millisecond
)
