package hidden

import (
	"context"
	"fmt"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

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
			got, err := Share(t.Context(), tc.env, seeds)
			if err != nil || got != tc.want {
				t.Errorf("got %g, %v; want %g", got, err, tc.want)
			}
		})
	}
}
