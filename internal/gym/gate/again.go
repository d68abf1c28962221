package gate

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/seed"
)

// again are the episodes that are played a second time: all but those of the random policy after its first on each seed.
func (s *session) again() []*trajectory {
	var list []*trajectory
	seen := map[uint64]bool{}
	for _, t := range s.all {
		if t.role == random && seen[t.seed] {
			continue
		}
		seen[t.seed] = seen[t.seed] || t.role == random
		list = append(list, t)
	}
	return list
}

// crowd is how many episodes begin in the last worker before the others are played again: more than a run plays in one
// process as a rule, so that a source cannot behave until the gate is over.
const crowd = 40

// beginnings are episodes that begin and are left there. Each must begin as the reference solution's did on its seed.
func (s *session) beginnings() []*trajectory {
	references := s.of(reference)
	list := make([]*trajectory, crowd)
	for i := range list {
		like := references[i%len(references)]
		list[i] = &trajectory{
			role: like.role, seed: like.seed, name: fmt.Sprintf("episode %d of one process, on seed %d", i+1, like.seed),
			recording: recording{begun: true, first: like.first}, reset: like.reset,
		}
		list[i].reset.Episode = len(s.all) + i
	}
	return list
}

// others are the settings of the workers in which everything is played again. The first plays the episodes as the plain
// arm of a run does. Starlark sees nothing of its surroundings, so that one is all it gets. Python gets two: a set of two
// texts, for one, has the same order under half of all hash seeds. Time zones are given by their rule, which needs no file.
func (s *session) others() []setting {
	list := []setting{{plain: true, alone: true}}
	if s.src.Runtime != gym.RuntimePython {
		return list
	}
	list[0].around = gym.Surroundings{
		HashSeed: s.hashSeed(0), TimeZone: "<+1345>-13:45", Locale: "tr_TR.UTF-8",
		ClockShift: 400*24*time.Hour + 7*time.Hour + 31*time.Minute + 17123*time.Millisecond,
	}
	return append(list, setting{alone: true, around: gym.Surroundings{
		HashSeed: s.hashSeed(1), TimeZone: "<-0930>9:30", Locale: "C",
		ClockShift: -(37*24*time.Hour + 5*time.Hour + 47*time.Minute + 31877*time.Millisecond),
	}})
}

// hashSeed is neither 0, which is what a run uses, nor over 32 bits.
func (s *session) hashSeed(index int) uint32 {
	return 1 + uint32(seed.Derive(s.opts.Seed, seed.Key{Purpose: "gate.hash", Index: index})%(1<<32-1))
}

// round is one more fresh worker and what is played in it.
type round struct {
	how  setting
	list []*trajectory
}

// rounds are all workers in which everything is played again: first in reverse order, then in that of the first worker and
// after many others. Python also goes through what the arms of a run are.
func (s *session) rounds() []round {
	others := s.others()
	list := s.again()
	slices.Reverse(list)
	rounds := []round{{how: others[0], list: list}}
	if len(others) == 1 {
		return rounds
	}
	rounds = append(rounds, round{how: others[1], list: append(s.beginnings(), s.again()...)})
	return append(rounds, s.arms()...)
}

// playAgain plays the same actions in other fresh workers. Where something differs it says what, and on what that depends.
func (s *session) playAgain(ctx context.Context, pool *gym.Pool) (string, error) {
	for _, r := range s.rounds() {
		told, err := s.replay(ctx, pool, r.how, r.list)
		if err != nil {
			return "", err
		}
		if told.loadedTooLong {
			return "the source does not load every time: " + told.refused, nil
		}
		if d := s.differsFrom(told, r.list, !r.how.plain); d.what != "" {
			return s.explain(ctx, pool, d, r.how, r.list)
		}
	}
	return "", nil
}

// differsFrom returns the first difference between what was played first and what another worker told.
func (s *session) differsFrom(told replayed, list []*trajectory, privileged bool) difference {
	if d := differsInSource(s.meta, told); d.what != "" {
		return d
	}
	for i, t := range list {
		if d := t.differsFrom(t.recording, told.recordings[i], privileged); d.what != "" {
			return d
		}
	}
	return difference{}
}

// inOtherRuntime plays the same actions in the other language and judges whether it tells the same.
func (s *session) inOtherRuntime(ctx context.Context, pool *gym.Pool, j *judge) error {
	how := setting{alone: true, runtime: gym.RuntimePython}
	if s.src.Runtime == gym.RuntimePython {
		how.runtime = gym.RuntimeStarlark
	}
	list := s.again()
	told, err := s.replay(ctx, pool, how, list)
	switch {
	case errors.Is(err, errLate):
		j.skip(StageBothRuntimes, s.late())
		return nil
	case err != nil && ctx.Err() == nil:
		j.skip(StageBothRuntimes, err.Error())
		return nil
	case err != nil:
		return err
	}
	reason := ""
	if told.refused != "" {
		reason = fmt.Sprintf("%s refuses it: %s", how.runtime, told.refused)
	} else if d := s.differsFrom(told, list, true); d.what != "" {
		reason = fmt.Sprintf("%s is not the same in %s", d, how.runtime)
	}
	j.pass(StageBothRuntimes, reason)
	return nil
}
