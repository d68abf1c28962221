package gate

import (
	"context"
	"fmt"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/seed"
)

// The most that the workers which are like a run's arms play.
const (
	mostCrowdSeeds = 4
	mostRepeats    = 4
)

// arms are the last rounds of Python: two workers that are bit for bit like those of a run. What is around them is the
// usual, all episodes are begun at once and played side by side, and one is asked for hints, the other for nothing. A
// source that knows a run by what the gate's other workers never are is met there.
func (s *session) arms() []round {
	list := s.armList()
	return []round{
		{how: setting{atOnce: true, plain: true}, list: list},
		{how: setting{atOnce: true}, list: list},
	}
}

// armList is what an arm plays: some episodes on each seed, the reference solution among them, seed after seed. How many
// of both is drawn, so that no number tells the gate from a run. On the seeds of the crowd nothing is known to compare.
func (s *session) armList() []*trajectory {
	r := seed.Stream(s.opts.Seed, seed.Key{Purpose: "gate.arm"})
	seeds := append([]uint64(nil), s.opts.Seeds...)
	seeds = append(seeds, s.opts.Crowd[:min(r.IntN(mostCrowdSeeds+1), len(s.opts.Crowd))]...)
	repeats := 1 + r.IntN(mostRepeats)
	var list []*trajectory
	for _, at := range r.Perm(len(seeds)) {
		known := s.on(seeds[at])
		n := repeats + r.IntN(2) // a run plays some hinted episodes again, where it plays each seed equally often without
		sure := r.IntN(n)
		for k := range n {
			var t trajectory
			switch {
			case at >= len(s.opts.Seeds):
				t = trajectory{actions: s.all[r.IntN(len(s.all))].actions}
			case k == sure:
				t = *known[0] // the reference solution was the first on each seed
			default:
				t = *known[r.IntN(len(known))]
			}
			t.seed = seeds[at]
			t.name = fmt.Sprintf("%s, played as a run plays", t.name)
			t.first.Solution = nil // no run asks for it
			t.reset = gym.Reset{Episode: len(list), Seed: t.seed, WantHint: true}
			list = append(list, &t)
		}
	}
	return list
}

// on are the trajectories on a seed.
func (s *session) on(env uint64) []*trajectory {
	var list []*trajectory
	for _, t := range s.all {
		if t.seed == env {
			list = append(list, t)
		}
	}
	return list
}

// playAtOnce plays the moves of all trajectories as a run does: one batch of resets, and one batch of steps a turn.
func (s *session) playAtOnce(ctx context.Context, w *gym.Worker, how setting, list []*trajectory, out []recording) error {
	resets := make([]gym.Reset, len(list))
	for i, t := range list {
		resets[i] = how.reset(t)
	}
	bounded, cancel := s.clock.bound(ctx)
	defer cancel()
	started, err := w.Reset(bounded, resets)
	if err != nil || s.clock.tick() {
		return s.clock.ended(ctx, err)
	}
	for i := range out {
		out[i].first, out[i].begun = started[i], list[i].begun
	}
	for turn := 0; !anyTimedOut(out); turn++ {
		var actions []gym.Action
		var at []int
		for i, t := range list {
			if out[i].open() && turn < len(t.actions) {
				actions, at = append(actions, gym.Action{Episode: t.reset.Episode, Text: t.actions[turn]}), append(at, i)
			}
		}
		if len(actions) == 0 {
			return nil // what is open ends with the worker
		}
		stepped, err := w.Step(bounded, actions)
		if err != nil || s.clock.tick() {
			return s.clock.ended(ctx, err)
		}
		for k, i := range at {
			out[i].steps = append(out[i].steps, stepped[k])
		}
	}
	return nil
}

func anyTimedOut(list []recording) bool {
	for i := range list {
		if list[i].timedOut() {
			return true
		}
	}
	return false
}
