package gate

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// role is what an episode is played for.
type role int

const (
	reference role = iota
	wrong
	random
)

// trajectory is one episode of the gate: who played it, and all that came back.
type trajectory struct {
	role   role
	name   string // for people
	seed   uint64
	policy policy
	reset  gym.Reset

	actions []string
	recording
	// stuck says that the player had no action left before the episode ended.
	stuck bool
}

// listed are the legal actions that the player sees now.
func (t *trajectory) listed() []string {
	if last, ok := t.last(); ok {
		return last.Actions
	}
	return t.first.Actions
}

func (t *trajectory) observation() string {
	if last, ok := t.last(); ok {
		return last.Observation
	}
	return t.first.Observation
}

// open says whether the player has another move to make. No worker is believed that goes on for ever.
func (t *trajectory) open() bool {
	return !t.stuck && t.recording.open() && len(t.steps) < wire.MaxSteps
}

// session is everything that the gate plays of one source.
type session struct {
	opts Options
	src  gym.Source
	meta gym.Meta
	all  []*trajectory

	clock clock
}

// batch is how many calls of the worker are made at once. A Python call that never ends is ended by the time that it
// takes, so the gate makes them one by one and stops at the first that fails.
func (s *session) batch() int {
	if s.src.Runtime == gym.RuntimePython {
		return 1
	}
	return math.MaxInt
}

// play plays everything in one worker, all episodes interleaved, until an episode fails.
func (s *session) play(ctx context.Context, w *gym.Worker) error {
	for i, env := range s.opts.Seeds {
		s.add(reference, fmt.Sprintf("the reference solution on seed %d", env), env, s.referencePolicy(i))
	}
	if err := s.start(ctx, w, s.all); err != nil || s.resetFault() != "" || s.clock.over {
		return err
	}
	n := len(s.all)
	s.addOthers()
	if err := s.start(ctx, w, s.all[n:]); err != nil || s.resetFault() != "" || s.clock.over {
		return err
	}
	return s.interleave(ctx, w)
}

func (s *session) add(r role, name string, env uint64, p policy) {
	s.all = append(s.all, &trajectory{
		role: r, name: name, seed: env, policy: p,
		// Every episode asks for the hint, because one worker serves one arm; only the first ones need the solution.
		reset: gym.Reset{Episode: len(s.all), Seed: env, WantHint: true, WantSolve: r == reference},
	})
}

// addOthers adds the wrong solutions of the first seed and the episodes of the random policy.
func (s *session) addOthers() {
	first := s.all[0]
	for i, p := range s.wrongPolicies(first.first.Solution) {
		s.add(wrong, fmt.Sprintf("wrong solution %d on seed %d", i+1, first.seed), first.seed, p)
	}
	for i, env := range s.opts.Seeds {
		for k := range s.opts.RandomEpisodes {
			s.add(random, fmt.Sprintf("random episode %d on seed %d", k+1, env), env, s.randomPolicy(i, k))
		}
	}
}

func (s *session) start(ctx context.Context, w *gym.Worker, list []*trajectory) error {
	for part := range slices.Chunk(list, min(s.batch(), len(list))) {
		resets := make([]gym.Reset, len(part))
		for i, t := range part {
			resets[i] = t.reset
		}
		started, err := w.Reset(ctx, resets)
		if err != nil {
			return err
		}
		for i, t := range part {
			t.first, t.begun = started[i], true
			t.stuck = t.role == reference && !s.meta.HasSolve
		}
		if s.resetFault() != "" || s.clock.tick() {
			return nil
		}
	}
	return nil
}

// interleave plays one action of each open episode in turn until all have ended.
func (s *session) interleave(ctx context.Context, w *gym.Worker) error {
	for {
		var players []*trajectory
		for _, t := range s.all {
			if !t.open() {
				continue
			}
			action, ok := t.policy(len(t.actions), t.listed(), t.observation())
			if !ok {
				t.stuck = true
				continue
			}
			t.actions = append(t.actions, action)
			players = append(players, t)
		}
		if len(players) == 0 {
			return nil
		}
		for part := range slices.Chunk(players, min(s.batch(), len(players))) {
			if err := s.step(ctx, w, part); err != nil || s.runFault() != "" || s.clock.tick() {
				return err
			}
		}
	}
}

// step plays the latest action of each.
func (s *session) step(ctx context.Context, w *gym.Worker, players []*trajectory) error {
	actions := make([]gym.Action, len(players))
	for i, t := range players {
		actions[i] = gym.Action{Episode: t.reset.Episode, Text: t.actions[len(t.actions)-1]}
	}
	stepped, err := w.Step(ctx, actions)
	if err != nil {
		return err
	}
	for i, t := range players {
		t.steps = append(t.steps, stepped[i])
	}
	return nil
}
