package pools_test

import (
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/pools"
	"github.com/seed256f7767/spade/internal/seed"
)

// verdicts are what the gate says of some environments of each set: the stage that refuses, or nothing, and a part of the
// reason. Those that are refused are faults of the packages that docs/pools.md tells of.
var verdicts = []struct{ spec, stage, reason string }{
	{"gymnasium:FrozenLake-v1", "", ""},
	{"gymnasium:CliffWalking-v1", "", ""},
	{"gymnasium:Taxi-v4", "", ""},
	{"gymnasium:MountainCar-v0", "", ""},
	{"gymnasium:CartPole-v1", gate.StageTerminates, "truncated"},
	{"gymnasium:Blackjack-v1", gate.StageReference, "no solve"},
	{"reasoning-gym:leg_counting", "", ""},
	{"reasoning-gym:word_sorting", "", ""},
	{"reasoning-gym:game_of_life", "", ""},
	{"reasoning-gym:zebra_puzzles", "", ""},
	{"reasoning-gym:pool_matrix", "", ""}, // seeds numpy's process-global generator
	{"reasoning-gym:prime_factorization", gate.StageRun, "ValueError"},
	{"reasoning-gym:isomorphic_strings", gate.StageDeterministic, "PYTHONHASHSEED"},
	{"reasoning-gym:game_of_life_halting", gate.StageWrong, "three wrong solutions"},
	{"bfcl:multi_turn_base", "", ""},
	{"bfcl:multi_turn_base_7", "", ""},
	{"textarena:TowerOfHanoi-v0", "", ""},
	{"textarena:Mastermind-v0", "", ""},
	{"textarena:Minesweeper-v0-small", "", ""}, // draws from the process-global generator in the middle of a game
	{"textarena:Bandit-v0", gate.StageReference, "the return is 0"},
	{"textarena:ThreeCardMonte-v0", gate.StageRun, "Bad action"},
	{"gem:game:GuessTheNumber-v0-easy", "", ""},
	{"gem:game:Minesweeper-v0-easy", "", ""},
	{"gem:game:FifteenPuzzle-v0-random", gate.StageReset, "TypeError"},
	{"verifiers:boxed-arithmetic", "", ""},
	{"verifiers:higher-lower", "", ""},
}

func TestGate(t *testing.T) {
	workers := start(t)
	for _, want := range verdicts {
		t.Run(want.spec, func(t *testing.T) {
			fits(t, want.spec)
			e := list(t, workers, want.spec)[0]
			report := check(t, workers, e)
			if report.Stage != want.stage || report.Accepted != (want.stage == "") || !strings.Contains(report.Reason, want.reason) {
				t.Errorf("refused at %q: %s\nwant %q with %q", report.Stage, report.Reason, want.stage, want.reason)
			}
			if !strings.HasPrefix(report.Tier, "python-1") {
				t.Errorf("ran in sandbox tier %q", report.Tier)
			}
		})
	}
}

// fits says whether this Python can hold the set of a spec, and skips a subtest where it cannot.
func fits(t *testing.T, spec string) bool {
	t.Helper()
	name, _, one := strings.Cut(spec, ":")
	err := pools.Fits(t.Context(), pools.Config{}, name)
	if err != nil && one {
		t.Skip(err)
	}
	return err == nil
}

func check(t *testing.T, workers *gym.Pool, e pools.Entry) gate.Report {
	t.Helper()
	seeds := seed.Between(1, seed.Key{Purpose: "gate.seed"}, e.SeedFrom, e.SeedTo, 4)
	report, err := gate.Check(t.Context(), workers, e.Source, gate.Options{Seed: 1, Seeds: seeds, RequireSolve: true})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// TestCatalogues wants every set to list what it did when this was written, and to say why the rest is missing.
func TestCatalogues(t *testing.T) {
	workers := start(t)
	for name, want := range map[string]struct{ entries, missing int }{
		"gymnasium": {10, 40}, "reasoning-gym": {105, 1}, "bfcl": {1, 0}, "textarena": {57, 100}, "gem": {25, 10}, "verifiers": {2, 4},
	} {
		if !fits(t, name) {
			continue
		}
		if got := len(list(t, workers, name+":*")); got != want.entries {
			t.Errorf("%s has %d entries, want %d", name, got, want.entries)
		}
		absent, err := pools.Missing(t.Context(), workers, pools.Spec{Set: name, Name: "*"})
		if err != nil || len(absent) < want.missing {
			t.Errorf("%s: %d are missing (%v), want at least %d", name, len(absent), err, want.missing)
		}
		for _, a := range absent {
			if a.Reason == "" {
				t.Errorf("%s: why is %s missing?", name, a.Name)
			}
		}
	}
	if got := len(list(t, workers, "bfcl:multi_turn_base_*")); got != 200 {
		t.Errorf("BFCL has %d tasks", got)
	}
}

// TestEverySet is that no set of those that can be installed goes untested.
func TestEverySet(t *testing.T) {
	tested := map[string]bool{}
	for _, v := range verdicts {
		set, _, _ := strings.Cut(v.spec, ":")
		tested[set] = true
	}
	for _, name := range pools.Names() {
		if !tested[name] {
			t.Errorf("no environment of %s is put through the gate", name)
		}
	}
}

// TestPackageSeesNothing opens the environment of a package and looks, from inside, for what must not be there.
func TestPackageSeesNothing(t *testing.T) {
	workers := start(t)
	e := list(t, workers, "gymnasium:FrozenLake-v1")[0]
	src := e.Source
	src.Code = `import os, socket

ENVIRON = set(os.environ) - {"PYGAME_HIDE_SUPPORT_PROMPT"}  # which the package itself adds

from spade_pools.gymnasium_pool import make

def tried(call):
    try:
        call()
    except BaseException as error:
        return type(error).__name__
    return "it worked"

import numpy
FOUND = {
    "environ": ENVIRON,
    "write": tried(lambda: open(numpy.__file__, "a")),
    "fork": tried(os.fork),
    "socket": tried(socket.socket),
    "home": tried(lambda: os.listdir("/root")),
}

class Env(make("FrozenLake-v1", version="` + e.Version + `", seeds=(0, 1), adapter=1)):
    def reset(self, seed):
        observation, info = super().reset(seed)
        return repr(sorted(FOUND.items())), info
`
	w, err := workers.Open(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	}()
	seen := reset(t, w, gym.Reset{Seed: 1}).Observation
	if strings.Contains(seen, "it worked") || !strings.Contains(seen, "('environ', set())") {
		t.Error(seen)
	}
}
