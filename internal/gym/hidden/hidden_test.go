package hidden

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// endless is an environment that goes on for ever, with a solution that does too. Each step takes its time.
type endless struct {
	takes time.Duration
	steps int
}

func (*endless) Reset(_ context.Context, resets []wire.Reset) ([]wire.Started, error) {
	out := make([]wire.Started, len(resets))
	for i, r := range resets {
		out[i] = wire.Started{Episode: r.Episode, Solution: slices.Repeat([]string{"go"}, 1<<20)}
	}
	return out, nil
}

func (e *endless) Step(ctx context.Context, actions []wire.Action) ([]wire.Stepped, error) {
	e.steps++
	out := make([]wire.Stepped, len(actions))
	for i, a := range actions {
		out[i].Episode = a.Episode
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(e.takes):
		return out, nil
	}
}

func TestNoSolutionIsPlayedForEver(t *testing.T) {
	var e endless
	if _, err := Share(t.Context(), &e, Limits{Steps: 7, Time: time.Minute}, []uint64{1, 2}); err != nil || e.steps != 7 {
		t.Errorf("%d steps, %v; want 7", e.steps, err)
	}
	e = endless{takes: time.Minute}
	_, err := Share(t.Context(), &e, Limits{Steps: 7, Time: 10 * time.Millisecond}, []uint64{1, 2})
	if !errors.Is(err, ErrLate) {
		t.Errorf("what takes a minute is over after 10 ms with %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Share(ctx, &e, Limits{Steps: 7, Time: time.Minute}, []uint64{1}); !errors.Is(err, context.Canceled) {
		t.Errorf("what is interrupted ends with %v", err)
	}
}

// scripted answers from a table: per seed the observations, first to last, and the solution.
type scripted struct {
	observations map[uint64][]string
	solutions    map[uint64][]string
	seeds        map[int]uint64
	turn         map[int]int
}

func (s *scripted) Reset(_ context.Context, resets []wire.Reset) ([]wire.Started, error) {
	s.seeds, s.turn = map[int]uint64{}, map[int]int{}
	var out []wire.Started
	for _, r := range resets {
		s.seeds[r.Episode] = r.Seed
		out = append(out, wire.Started{
			Episode: r.Episode, Observation: s.observations[r.Seed][0], Solution: s.solutions[r.Seed],
		})
	}
	return out, nil
}

func (s *scripted) Step(_ context.Context, actions []wire.Action) ([]wire.Stepped, error) {
	var out []wire.Stepped
	for _, a := range actions {
		seed := s.seeds[a.Episode]
		if want := s.solutions[seed][s.turn[a.Episode]]; a.Text != want {
			return nil, fmt.Errorf("episode %d: action %q, want %q", a.Episode, a.Text, want)
		}
		s.turn[a.Episode]++
		st := wire.Stepped{Episode: a.Episode, Observation: s.observations[seed][s.turn[a.Episode]]}
		if s.turn[a.Episode] == len(s.solutions[seed]) {
			st.Fault.Outcome = wire.Solved
		}
		out = append(out, st)
	}
	return out, nil
}

func TestShare(t *testing.T) {
	for name, tc := range map[string]struct {
		env  *scripted
		want float64
	}{
		"a secret number": {&scripted{
			observations: map[uint64][]string{1: {"guess", "end"}, 2: {"guess", "end"}, 3: {"guess", "end"}, 4: {"guess", "end"}},
			solutions:    map[uint64][]string{1: {"7"}, 2: {"9"}, 3: {"7"}, 4: {"2"}},
		}, 0.75}, // the second seed that guesses 7 is like the first one
		"sums that are shown": {&scripted{
			observations: map[uint64][]string{1: {"1+1", "end"}, 2: {"1+2", "end"}},
			solutions:    map[uint64][]string{1: {"2"}, 2: {"3"}},
		}, 0},
		"found out by acting": {&scripted{
			observations: map[uint64][]string{1: {"guess", "higher", "end"}, 2: {"guess", "lower", "end"}},
			solutions:    map[uint64][]string{1: {"5", "8"}, 2: {"5", "2"}},
		}, 0},
		"an answer is not shown at the second step": {&scripted{
			observations: map[uint64][]string{1: {"guess", "no", "end"}, 2: {"guess", "no", "end"}},
			solutions:    map[uint64][]string{1: {"5", "8"}, 2: {"5", "2"}},
		}, 1},
		"seen before, and not shown again": {&scripted{
			observations: map[uint64][]string{1: {"key 4", "now", "end"}, 2: {"key 6", "now", "end"}},
			solutions:    map[uint64][]string{1: {"go", "4"}, 2: {"go", "6"}},
		}, 0},
		"no solution": {&scripted{
			observations: map[uint64][]string{1: {"guess"}, 2: {"guess"}},
		}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			seeds := make([]uint64, 0, 4)
			for s := range uint64(len(tc.env.observations)) {
				seeds = append(seeds, s+1)
			}
			got, err := Share(t.Context(), tc.env, Limits{Steps: 3}, seeds)
			if err != nil || got != tc.want {
				t.Errorf("got %g, %v; want %g", got, err, tc.want)
			}
		})
	}
}
