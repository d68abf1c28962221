package pools_test

import (
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
)

// TestEpisodesDoNotShareAGenerator plays two games that draw from Python's process-global generator in the middle, first
// one alone and then both in turn.
func TestEpisodesDoNotShareAGenerator(t *testing.T) {
	w := open(t, start(t), "textarena:2048-v0")
	moves := []string{"[Left]", "[Up]", "[Right]", "[Down]", "[Left]", "[Up]"}
	play := func(episodes ...int) map[int][]string {
		seen := map[int][]string{}
		for _, e := range episodes {
			s, err := w.Reset(t.Context(), []gym.Reset{{Episode: e, Seed: uint64(10 + e)}}) //nolint:gosec // small
			if err != nil {
				t.Fatal(err)
			}
			seen[e] = append(seen[e], s[0].Observation)
		}
		for _, move := range moves {
			for _, e := range episodes {
				s, err := w.Step(t.Context(), []gym.Action{{Episode: e, Text: move}})
				if err != nil {
					t.Fatal(err)
				}
				seen[e] = append(seen[e], s[0].Observation+string(s[0].Outcome))
			}
		}
		for _, e := range episodes {
			if err := w.Drop(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		return seen
	}
	alone, together := play(1), play(2, 1)
	if a, b := strings.Join(alone[1], "\n"), strings.Join(together[1], "\n"); a != b {
		t.Errorf("alone:\n%s\ntogether:\n%s", a, b)
	}
	if strings.Join(together[1], "") == strings.Join(together[2], "") {
		t.Error("two seeds play alike")
	}
}

// TestLife looks at a blinker on a torus with what stands in for cellpylib.
func TestLife(t *testing.T) {
	workers := start(t)
	w, err := workers.Open(t.Context(), gym.Source{Runtime: gym.RuntimePython, Package: "reasoning-gym", Code: `
import spade_pools
from spade_pools import life

META = {"title": "life", "kind": "game", "max_steps": 1}

def reset(seed):
    board = life.init_simple2d(5, 4)
    board[:, :, :] = 0
    board[0, 0, 1:4] = 1
    later = life.evolve2d(board, timesteps=3, apply_rule=life.game_of_life_rule, memoize="recursive")
    return {}, str([later.shape, later[1].tolist(), bool((later[2] == board[0]).all())]), {}

def step(state, action):
    return state, "", 0.0, True, False, {}

def hint(state):
    return ""

def verify(state):
    return 0.0
`})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	want := "[(3, 5, 4), [[0, 0, 1, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 0, 1, 0]], True]"
	if got := reset(t, w, gym.Reset{}).Observation; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
