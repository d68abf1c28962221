package gate

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed256f7767/spade/internal/gym"
)

// errLate says that the time limit is over.
var errLate = errors.New("the time limit is over")

// clock is the backstop against a source whose every call takes long, and none too long. Once it has run out it stays so.
type clock struct {
	limit time.Duration // zero: none
	until time.Time
	over  bool
}

func startClock(src gym.Source, opts Options) clock {
	if src.Runtime != gym.RuntimePython {
		return clock{}
	}
	return clock{limit: opts.TimeLimit, until: time.Now().Add(opts.TimeLimit)}
}

// tick says whether the limit is over by now.
func (c *clock) tick() bool {
	c.over = c.over || c.limit > 0 && time.Now().After(c.until)
	return c.over
}

// bound ends a context when the limit is over: a batch is many calls, and each of them may take its own limit.
func (c *clock) bound(ctx context.Context) (context.Context, context.CancelFunc) {
	if c.limit <= 0 {
		return ctx, func() {}
	}
	return context.WithDeadline(ctx, c.until)
}

// ended is what ended a batch that was bound, or was made when the limit was over.
func (c *clock) ended(ctx context.Context, err error) error {
	if ctx.Err() == nil && (err == nil || errors.Is(err, context.DeadlineExceeded)) && c.tick() {
		return errLate
	}
	return err
}

// late is the reason to refuse what took too long.
func (s *session) late() string {
	if !s.clock.over {
		return ""
	}
	return fmt.Sprintf("the gate gives up after %v: the environment is too slow to be played", s.clock.limit)
}
