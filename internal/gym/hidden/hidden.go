// Package hidden finds environments whose solution needs a fact that no observation holds: "guess the secret number".
// Such a task has a gap between the hinted and the plain arm for ever, and no policy can learn to close it.
//
// The test is behavioural. The reference solution is played on many env seeds. Wherever two seeds have shown exactly the
// same observations up to a point, an agent cannot tell them apart; if the solution nevertheless acts differently
// there, it acts on something that was not observed. What an agent can find out by acting, such as whether a guess was
// too high, counts as observed from then on. Begin with Share.
//
// The test has two limits. An environment whose screens differ in a detail that has nothing to do with the secret
// escapes it. And a reference solution that jumps to an answer which it could have found out step by step is taken for
// one that needs the secret: a designer is to write solutions that act on what can be seen.
package hidden

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// Env is a worker with the environment loaded.
type Env interface {
	Reset(ctx context.Context, resets []wire.Reset) ([]wire.Started, error)
	Step(ctx context.Context, actions []wire.Action) ([]wire.Stepped, error)
}

// ErrLate says that the time for playing was over. What takes so long is too slow to be played.
var ErrLate = errors.New("the reference solution takes too long")

// Limits bound what is played of an environment, whatever its worker tells.
type Limits struct {
	// Steps is max_steps: what a solution says after that is left out.
	Steps int
	// Time is for everything together; zero: no limit, for what counts its own steps.
	Time time.Duration
}

// Share is the share of the env seeds on which the reference solution acts on a fact that no observation holds, in
// [0, 1]; 0 for an environment without a reference solution. Any error but ErrLate is the worker's, not the environment's.
func Share(ctx context.Context, env Env, limits Limits, seeds []uint64) (float64, error) {
	if limits.Time <= 0 {
		return play(ctx, env, limits.Steps, seeds)
	}
	bounded, cancel := context.WithTimeout(ctx, limits.Time)
	defer cancel()
	share, err := play(bounded, env, limits.Steps, seeds)
	if err != nil && ctx.Err() == nil && bounded.Err() != nil {
		return 0, fmt.Errorf("%w: more than %v on %d seeds", ErrLate, limits.Time, len(seeds))
	}
	return share, err
}

func play(ctx context.Context, env Env, steps int, seeds []uint64) (float64, error) {
	resets := make([]wire.Reset, len(seeds))
	for i, s := range seeds {
		resets[i] = wire.Reset{Episode: i, Seed: s, WantSolve: true}
	}
	started, err := env.Reset(ctx, resets)
	if err != nil {
		return 0, fmt.Errorf("reset: %w", err)
	}
	p := newPlays(started, steps)
	for turn := 0; ; turn++ {
		p.compare(turn)
		actions := p.actions(turn)
		if len(actions) == 0 {
			return p.share(), nil
		}
		answers, err := env.Step(ctx, actions)
		if err != nil {
			return 0, fmt.Errorf("step: %w", err)
		}
		p.take(answers)
	}
}

// view is a digest of everything an episode has shown so far.
type view [sha256.Size]byte

// plays is the reference solution played on many seeds side by side.
type plays struct {
	solutions [][]string
	views     []view
	live      []bool
	hidden    []bool
}

func newPlays(started []wire.Started, steps int) *plays {
	p := &plays{
		solutions: make([][]string, len(started)), views: make([]view, len(started)),
		live: make([]bool, len(started)), hidden: make([]bool, len(started)),
	}
	for i, s := range started {
		p.solutions[i] = s.Solution[:min(steps, len(s.Solution))]
		p.live[i] = s.Outcome == wire.Ongoing && len(s.Solution) > 0
		p.views[i] = sha256.Sum256([]byte(s.Observation))
	}
	return p
}

// compare marks the live seeds that look alike now and whose solutions act differently.
func (p *plays) compare(turn int) {
	type first struct {
		index  int
		action string
	}
	seen := map[view]first{}
	for i := range p.solutions {
		if !p.acts(i, turn) {
			continue
		}
		action := p.solutions[i][turn]
		f, ok := seen[p.views[i]]
		if !ok {
			seen[p.views[i]] = first{i, action}
			continue
		}
		if f.action != action {
			p.hidden[i], p.hidden[f.index] = true, true
		}
	}
}

func (p *plays) acts(i, turn int) bool { return p.live[i] && turn < len(p.solutions[i]) }

func (p *plays) actions(turn int) []wire.Action {
	var actions []wire.Action
	for i := range p.solutions {
		if p.acts(i, turn) {
			actions = append(actions, wire.Action{Episode: i, Text: p.solutions[i][turn]})
		}
	}
	return actions
}

// take adds what the episodes showed. The action is part of what an agent knows.
func (p *plays) take(answers []wire.Stepped) {
	for _, a := range answers {
		h := sha256.New()
		h.Write(p.views[a.Episode][:])
		h.Write([]byte(a.Observation))
		p.views[a.Episode] = view(h.Sum(nil))
		p.live[a.Episode] = a.Outcome == wire.Ongoing
	}
}

func (p *plays) share() float64 {
	n := 0
	for _, h := range p.hidden {
		if h {
			n++
		}
	}
	return float64(n) / float64(max(1, len(p.hidden)))
}
