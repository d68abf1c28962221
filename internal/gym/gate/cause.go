package gate

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// controls is how many workers play the same in the same surroundings before these are trusted to repeat it.
const controls = 3

// factor is something around an environment that it must not depend on.
type factor struct {
	// name follows "depends on".
	name string
	// vary changes one thing of the control to what it was in the worker that differed.
	vary func(control *setting, differed setting)
	// only limits a factor to one runtime; empty: all.
	only string
}

var factors = [...]factor{
	{
		"the process-global random generator or the operating system's (random.…, numpy.random.…, os.urandom, uuid4): use rng, or self.rng in a class",
		func(c *setting, _ setting) { c.around.SeedGlobals = false }, gym.RuntimePython,
	},
	{
		clockFactor,
		func(c *setting, d setting) { c.around.FreezeClock, c.around.ClockShift = false, d.around.ClockShift }, gym.RuntimePython,
	},
	{
		"the order of a set or the hash of a text (PYTHONHASHSEED): sort before you use it",
		func(c *setting, d setting) { c.around.HashSeed = d.around.HashSeed }, gym.RuntimePython,
	},
	{
		"the time zone",
		func(c *setting, d setting) { c.around.TimeZone = d.around.TimeZone }, gym.RuntimePython,
	},
	{
		"the locale",
		func(c *setting, d setting) { c.around.Locale = d.around.Locale }, gym.RuntimePython,
	},
	{
		"whether its hint or its solution was asked for before, which the plain arm never does: hint and solve must leave nothing behind",
		func(c *setting, d setting) { c.plain = d.plain }, "",
	},
}

const clockFactor = "the wall clock: an episode has no time but its steps"

// explain says on what a difference depends. It finds out by experiment: the trajectory is played alone, in fresh workers
// whose surroundings are all the same, and then with one thing at a time as it was in the worker that differed. Whatever
// then changes the trajectory is a cause. This costs a dozen workers, and only sources that are refused pay for it.
func (s *session) explain(ctx context.Context, pool *gym.Pool, d difference, differed setting, list []*trajectory) (string, error) {
	x := experiment{s: s, pool: pool, of: d.of}
	causes, err := x.causes(ctx, differed)
	if err != nil {
		return "", err
	}
	if causes == nil && d.of != nil {
		shared, err := x.dependsOnOthers(ctx, list)
		if err != nil {
			return "", err
		}
		if shared {
			causes = []string{"other episodes of the same process: something outlives an episode, such as a global of an imported module or an attribute of a class that is not the source's own"}
		}
	}
	if causes == nil {
		causes = []string{"something that seldom differs, such as a race between threads: it differed once and not again"}
	}
	return fmt.Sprintf("%s depends on %s", d, strings.Join(causes, "; and on ")), nil
}

// experiment is the search for the causes of one difference.
type experiment struct {
	s    *session
	pool *gym.Pool
	of   *trajectory // nil: it shows when the source is loaded
	// control is what all workers of the same surroundings told.
	control replayed
}

// still is a setting in which nothing around the environment changes from one worker to the next.
func still() setting {
	return setting{alone: true, around: gym.Surroundings{SeedGlobals: true, FreezeClock: true}}
}

// alone plays nothing but the trajectory.
func (x *experiment) alone(ctx context.Context, how setting) (replayed, error) {
	if x.of == nil {
		return x.s.replay(ctx, x.pool, how, nil)
	}
	return x.s.replay(ctx, x.pool, how, []*trajectory{x.of})
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
	return x.of == nil || x.of.differsFrom(x.control.recordings[0], told.recordings[0], privileged).what == ""
}

// causes returns the names of all things that change the trajectory by themselves.
func (x *experiment) causes(ctx context.Context, differed setting) ([]string, error) {
	var err error
	if x.control, err = x.alone(ctx, still()); err != nil {
		return nil, err
	}
	if x.waits() {
		return []string{clockFactor}, nil
	}
	for range controls - 1 {
		told, err := x.alone(ctx, still())
		if err != nil {
			return nil, err
		}
		if !x.same(told, true) {
			return []string{x.s.unnamed()}, nil
		}
	}
	var names []string
	for _, f := range factors {
		how := still()
		f.vary(&how, differed)
		if f.only != "" && f.only != x.s.src.Runtime || how == still() {
			continue
		}
		told, err := x.alone(ctx, how)
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
	for _, r := range x.control.recordings {
		if last, _ := r.last(); r.first.Cause == wire.CauseTimeout || last.Cause == wire.CauseTimeout {
			return true
		}
	}
	return false
}

// dependsOnOthers says whether the trajectory is another one when the episodes that were played beside it or before it are
// played there again.
func (x *experiment) dependsOnOthers(ctx context.Context, list []*trajectory) (bool, error) {
	for _, beside := range []struct {
		list  []*trajectory
		alone bool
	}{{x.s.all, false}, {list, true}} {
		how := still()
		how.alone = beside.alone
		told, err := x.s.replay(ctx, x.pool, how, beside.list)
		if err != nil {
			return false, err
		}
		for i, t := range beside.list {
			if t == x.of && told.refused == "" && t.differsFrom(x.control.recordings[0], told.recordings[i], true).what != "" {
				return true, nil
			}
		}
	}
	return false, nil
}
