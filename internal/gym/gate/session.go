package gate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/seed256f7767/spade/internal/gym"
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

	first   gym.Started
	actions []string
	steps   []gym.Stepped
	// stuck says that the player had no action left before the episode ended.
	stuck bool
}

// last is the final answer; ok is false when the episode never began.
func (t *trajectory) last() (gym.Stepped, bool) {
	if len(t.steps) == 0 {
		return gym.Stepped{}, false
	}
	return t.steps[len(t.steps)-1], true
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

func (t *trajectory) open() bool {
	last, _ := t.last()
	return !t.stuck && t.first.Outcome == gym.Ongoing && last.Outcome == gym.Ongoing
}

// session is everything that the gate plays of one source.
type session struct {
	opts Options
	meta gym.Meta
	all  []*trajectory
}

// play plays everything in one worker, all episodes interleaved.
func (s *session) play(ctx context.Context, w *gym.Worker) error {
	for i, env := range s.opts.Seeds {
		s.add(reference, fmt.Sprintf("the reference solution on seed %d", env), env, s.referencePolicy(i))
	}
	if err := s.start(ctx, w, s.all); err != nil || s.resetFault() != "" {
		return err
	}
	n := len(s.all)
	s.addOthers()
	if err := s.start(ctx, w, s.all[n:]); err != nil || s.resetFault() != "" {
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
	resets := make([]gym.Reset, len(list))
	for i, t := range list {
		resets[i] = t.reset
	}
	started, err := w.Reset(ctx, resets)
	if err != nil {
		return err
	}
	for i, t := range list {
		t.first = started[i]
		t.stuck = t.role == reference && !s.meta.HasSolve
	}
	return nil
}

// interleave plays one action of each open episode in turn until all have ended.
func (s *session) interleave(ctx context.Context, w *gym.Worker) error {
	for {
		var batch []gym.Action
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
			batch, players = append(batch, gym.Action{Episode: t.reset.Episode, Text: action}), append(players, t)
		}
		if len(batch) == 0 {
			return nil
		}
		stepped, err := w.Step(ctx, batch)
		if err != nil {
			return err
		}
		for i, t := range players {
			t.steps = append(t.steps, stepped[i])
		}
	}
}

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

// playAgain plays the same actions in a second fresh worker, one episode after the other and in reverse order, and
// returns where something differs.
func (s *session) playAgain(ctx context.Context, pool *gym.Pool, src gym.Source) (diverged string, err error) {
	w, err := pool.Open(ctx, src)
	if err != nil {
		if notSource(err) == nil {
			return "the source loads in one fresh worker and not in another: " + err.Error(), nil
		}
		return "", err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	list := s.again()
	for i := len(list) - 1; i >= 0; i-- {
		if diverged, err = compare(ctx, w, list[i]); diverged != "" || err != nil {
			return diverged, err
		}
	}
	return "", nil
}

// compare plays t again and returns the first difference.
func compare(ctx context.Context, w *gym.Worker, t *trajectory) (string, error) {
	started, err := w.Reset(ctx, []gym.Reset{t.reset})
	if err != nil {
		return "", err
	}
	if what := differsAtStart(t.first, started[0]); what != "" {
		return fmt.Sprintf("%s: %s after reset is not the same in a second worker", t.name, what), nil
	}
	for i, action := range t.actions {
		stepped, err := w.Step(ctx, []gym.Action{{Episode: t.reset.Episode, Text: action}})
		if err != nil {
			return "", err
		}
		if what := differs(t.steps[i], stepped[0]); what != "" {
			return fmt.Sprintf("%s: %s after step %d is not the same in a second worker", t.name, what, i), nil
		}
	}
	if t.stuck {
		return "", w.Drop(ctx, t.reset.Episode)
	}
	return "", nil
}

func differsAtStart(a, b gym.Started) string {
	switch {
	case a.Outcome != b.Outcome || a.Error != b.Error:
		return "the outcome"
	case a.Observation != b.Observation:
		return "the observation"
	case a.Info != b.Info:
		return "the info"
	case a.StateHash != b.StateHash:
		return "the state"
	case a.Hint != b.Hint:
		return "the hint"
	}
	return ""
}

func differs(a, b gym.Stepped) string {
	switch {
	case a.Outcome != b.Outcome || a.Error != b.Error:
		return "the outcome"
	case a.Observation != b.Observation:
		return "the observation"
	case a.Info != b.Info:
		return "the info"
	case a.StateHash != b.StateHash:
		return "the state"
	case math.Float64bits(a.Reward) != math.Float64bits(b.Reward):
		return "the reward"
	case a.Terminated != b.Terminated || a.Truncated != b.Truncated:
		return "the end"
	case (a.Verify == nil) != (b.Verify == nil) || a.Verify != nil && *a.Verify != *b.Verify:
		return "the verdict"
	}
	return ""
}
