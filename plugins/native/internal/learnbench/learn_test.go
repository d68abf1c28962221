package learnbench

import (
	"reflect"
	"testing"

	"github.com/seed256f7767/spade/plugins/native/internal/agent"
)

func small(seed uint64) Config {
	return Config{Seed: seed, Iterations: 5, Designs: 6, EnvSeeds: 2, Repeats: 8, EvalSeeds: 3, Bits: agent.Bits, Suite: "development"}
}

// TestLearns holds the direction; the figures come from plugins/native/learnbench.
func TestLearns(t *testing.T) {
	outs, err := Runs(small(0), []uint64{1})
	if err != nil {
		t.Fatal(err)
	}
	g := Gains(outs, func(Task) string { return "all" })[0]
	t.Logf("%.3f to %.3f, ± %.3f", g.Before, g.After, g.Half)
	if !g.Clear() {
		t.Errorf("the gain of %.3f ± %.3f is not clear of zero", g.Mean, g.Half)
	}
}

func TestSameSeedSameRun(t *testing.T) {
	cfg := small(3)
	cfg.Iterations, cfg.EvalSeeds = 2, 1
	a, err := Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Run(cfg)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(a, b) {
		t.Error("the same seed made another run")
	}
}
