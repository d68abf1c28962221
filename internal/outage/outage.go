// Package outage tells the first of a row of failures from the others, so that what is tried until it works is reported when it
// stops working and when it works again, and not at every try. Begin with Tries, for what is tried in a loop, and with Outage, for what
// is tried in many places.
package outage

import (
	"context"
	"log/slog"
	"sync"
	"time"
)

// Outage is what is known of one thing that may fail. The zero value is a thing that works. It is safe for concurrent use.
type Outage struct {
	mu    sync.Mutex // guards the following
	since time.Time
}

// Begin notes a failure, and reports whether it is the first.
func (o *Outage) Begin() bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.since.IsZero() {
		return false
	}
	o.since = time.Now()
	return true
}

// End notes a success, and reports whether it ends an outage, and how long that was.
func (o *Outage) End() (lasted time.Duration, over bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.since.IsZero() {
		return 0, false
	}
	lasted, o.since = time.Since(o.since), time.Time{}
	return lasted, true
}

// Tries reports the tries of one thing in a log: a WARN when it fails first, and when it fails of another class, DEBUG for the
// others, and an INFO when it succeeds after all. It is used by one goroutine.
type Tries struct {
	Log    *slog.Logger
	Failed string // is said of a failure
	Worked string // is said of a success that comes after failures

	began time.Time
	class int
}

// Fails notes a failure of a class; more goes into the line.
func (t *Tries) Fails(ctx context.Context, class int, more ...any) {
	level := slog.LevelDebug
	if t.began.IsZero() || t.class != class {
		level = slog.LevelWarn
	}
	if t.began.IsZero() {
		t.began = time.Now()
	}
	t.class = class
	t.Log.Log(ctx, level, t.Failed, more...)
}

// Succeeds notes a success.
func (t *Tries) Succeeds(ctx context.Context, more ...any) {
	if t.began.IsZero() {
		return
	}
	t.Log.InfoContext(ctx, t.Worked, append(more, "after", time.Since(t.began))...)
	t.began = time.Time{}
}
