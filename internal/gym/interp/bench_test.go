package interp

import (
	"testing"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

const benchSource = `
META = {"title": "Counting", "kind": "game", "max_steps": 1000}

def reset(seed):
    return {"n": 0}, "0", {"actions": ["up"]}

def step(state, action):
    state["n"] += 1
    return state, "n", 0.0, False, False, {"actions": ["up"]}

def hint(state):
    return ""

def verify(state):
    return 0.0
`

func BenchmarkStep(b *testing.B) {
	env, loaded := Load(benchSource, wire.DefaultLimits())
	if env == nil {
		b.Fatal(loaded)
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if i%999 == 0 {
			env.Reset(wire.Reset{})
		}
		if s := env.Step(wire.Action{Text: "up"}); s.Outcome != wire.Ongoing {
			b.Fatal(s)
		}
	}
}
