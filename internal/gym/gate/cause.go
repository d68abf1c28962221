package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/seed256f7767/spade/internal/gym"
)

// controls is how many workers play the same in the same surroundings before these are trusted to repeat it.
const controls = 3

// attempts bounds how often each factor is varied before the cause stays without a name.
const attempts = 3

// factor is something around an environment that it must not depend on.
type factor struct {
	// name follows "depends on".
	name string
	// vary changes one thing of the control to what it was in the worker that differed, and in a later attempt to something
	// else: what tells only whether the second is even seldom shows at once.
	vary func(control *setting, differed setting, attempt int)
	// only limits a factor to one runtime; empty: all.
	only string
}

var factors = [...]factor{
	{
		"the process-global random generator or the operating system's (random.…, numpy.random.…, os.urandom, uuid4): use rng, or self.rng in a class",
		func(c *setting, _ setting, _ int) { c.around.SeedGlobals = false }, gym.RuntimePython,
	},
	{
		clockFactor,
		func(c *setting, d setting, attempt int) {
			c.around.FreezeClock = false
			c.around.ClockShift = d.around.ClockShift + time.Duration(attempt)*(31*time.Hour+11*time.Minute+7*time.Second)
		}, gym.RuntimePython,
	},
	{
		"the order of a set or the hash of a text (PYTHONHASHSEED): sort before you use it",
		func(c *setting, d setting, attempt int) { c.around.HashSeed = d.around.HashSeed + uint32(attempt) }, gym.RuntimePython,
	},
	{
		"the time zone",
		func(c *setting, d setting, _ int) { c.around.TimeZone = d.around.TimeZone }, gym.RuntimePython,
	},
	{
		"the locale",
		func(c *setting, d setting, _ int) { c.around.Locale = d.around.Locale }, gym.RuntimePython,
	},
	{
		askedFactor,
		func(c *setting, d setting, _ int) { c.plain = d.plain }, "",
	},
}

// Causes that are named in more than one place, or that no single factor is.
const (
	askedFactor  = "whether its hint or its solution was asked for before, which the plain arm never does: hint and solve must leave nothing behind"
	clockFactor  = "the wall clock: an episode has no time but its steps"
	othersFactor = "other episodes of the same process: something outlives an episode, such as a global of an imported module, a cache or a file"
	rareFactor   = "something that seldom differs, such as a race between threads: it differed once and not again"
)

// explain says on what a difference depends. It finds out by experiment: the trajectory is played again, and the others
// after it, in fresh workers whose surroundings are all the same, and then with one thing at a time as it was in the worker
// that differed. Whatever then changes something is a cause. This costs a dozen workers, and only sources that are refused
// pay for it.
func (s *session) explain(ctx context.Context, pool *gym.Pool, d difference, differed setting, list []*trajectory) (string, error) {
	x := experiment{s: s, pool: pool, differed: differed}
	if d.of != nil {
		x.list = append(x.list, d.of)
		for _, t := range list {
			if t != d.of {
				x.list = append(x.list, t)
			}
		}
	}
	causes, err := x.causes(ctx, list)
	if errors.Is(err, errLate) {
		causes, err = []string{"something that there was no time to find out"}, nil
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s depends on %s", d, strings.Join(causes, "; and on ")), nil
}

// experiment is the search for the causes of one difference.
type experiment struct {
	s        *session
	pool     *gym.Pool
	differed setting
	// list begins with the trajectory that differed, so that nothing was played before it. Empty: the source itself loads
	// otherwise.
	list []*trajectory
	// control is what all workers of the same surroundings told.
	control replayed
}

// still is a setting in which nothing around the environment changes from one worker to the next.
func still() setting {
	return setting{alone: true, around: gym.Surroundings{SeedGlobals: true, FreezeClock: true}}
}

func (x *experiment) play(ctx context.Context, how setting) (replayed, error) {
	return x.s.replay(ctx, x.pool, how, x.list)
}

// same says whether a worker told what the control did.
func (x *experiment) same(told replayed, privileged bool) bool {
	if x.control.refused != told.refused {
		return false
	}
	if told.refused != "" {
		return true
	}
	if differsInSource(x.control.meta, told).what != "" {
		return false
	}
	for i, t := range x.list {
		if t.differsFrom(x.control.recordings[i], told.recordings[i], privileged).what != "" {
			return false
		}
	}
	return true
}

// causes returns the names of all things that change something by themselves.
func (x *experiment) causes(ctx context.Context, list []*trajectory) ([]string, error) {
	var err error
	if x.control, err = x.play(ctx, still()); err != nil {
		return nil, err
	}
	if x.waits() {
		return []string{clockFactor}, nil
	}
	for range controls - 1 {
		told, err := x.play(ctx, still())
		if err != nil {
			return nil, err
		}
		if !x.same(told, true) {
			return []string{x.s.unnamed()}, nil
		}
	}
	for attempt := range attempts {
		names, err := x.vary(ctx, attempt)
		if len(names) > 0 || err != nil {
			return names, err
		}
		if attempt > 0 || len(x.list) == 0 {
			continue
		}
		if x.unasked() {
			return []string{askedFactor}, nil
		}
		if shared, err := x.dependsOnOthers(ctx, list); err != nil {
			return nil, err
		} else if shared {
			return []string{othersFactor}, nil
		}
	}
	return []string{rareFactor}, nil
}

// vary tries every factor and returns the names of those that change something.
func (x *experiment) vary(ctx context.Context, attempt int) ([]string, error) {
	var names []string
	for _, f := range factors {
		how := still()
		f.vary(&how, x.differed, attempt)
		if f.only != "" && f.only != x.s.src.Runtime || how == still() {
			continue
		}
		told, err := x.play(ctx, how)
		if err != nil {
			return nil, err
		}
		if !x.same(told, !how.plain) {
			names = append(names, f.name)
		}
	}
	return names, nil
}

// waits says whether the environment waits for a clock that stands still.
func (x *experiment) waits() bool {
	return slices.ContainsFunc(x.control.recordings, func(r recording) bool { return r.timedOut() })
}

// unasked says whether all workers that nobody asked for a solution, as no arm of a run does, tell the same, and the first
// one, which was asked, something else.
func (x *experiment) unasked() bool {
	t := x.list[0]
	return x.differed.atOnce && t.differsFrom(t.recording, x.control.recordings[0], true).what != ""
}

// dependsOnOthers says whether the trajectory is another one when the episodes that were played beside it or before it are
// played there again.
func (x *experiment) dependsOnOthers(ctx context.Context, list []*trajectory) (bool, error) {
	for _, beside := range []struct {
		list          []*trajectory
		alone, atOnce bool
	}{{list: x.s.all}, {list, x.differed.alone, x.differed.atOnce}} {
		how := still()
		how.alone, how.atOnce = beside.alone, beside.atOnce
		told, err := x.s.replay(ctx, x.pool, how, beside.list)
		if err != nil {
			return false, err
		}
		for i, t := range beside.list {
			if t == x.list[0] && told.refused == "" && t.differsFrom(x.control.recordings[0], told.recordings[i], true).what != "" {
				return true, nil
			}
		}
	}
	return false, nil
}
