package grammar

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/interp"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/seed"
)

func sampleDocs() []Doc {
	return []Doc{
		{ID: "1", Title: "Copper and bronze", Text: "# Copper\n\nCopper melts at 1085 degrees Celsius. Bronze is an alloy of copper and tin. " +
			"The Egyptians made mirrors from polished bronze. Zinc gives brass its yellow colour. Verdigris covers old roofs with a green layer. " +
			"Electric cables rely on wires drawn from pure metal. Sailors nailed plates under the hulls of wooden ships."},
		{ID: "2", Title: "Tides", Text: "The Moon pulls the oceans toward it. Spring tides follow the full and the new Moon. Harbours publish tables of high water. " +
			"Neap tides have the smallest range. Fundy Bay has a range of sixteen metres."},
	}
}

func draw(v *Vocabulary, r *seed.Rand) (Design, []int32) {
	var tokens []int32
	d, _ := v.Draw(func(node int) (int, error) {
		c := r.IntN(v.Nodes[node].Size)
		tokens = append(tokens, v.Nodes[node].Base+int32(c))
		return c, nil
	})
	return d, tokens
}

func TestTokensNameTheDesign(t *testing.T) {
	v := NewVocabulary()
	r := seed.FromEnvSeed(1)
	for range 500 {
		d, tokens := draw(v, r)
		back, err := v.Parse(tokens)
		if err != nil || back != d {
			t.Fatalf("tokens %v: %+v, %v, want %+v", tokens, back, err, d)
		}
		if Compose(d, sampleDocs()) != Compose(back, sampleDocs()) {
			t.Fatal("the same design made two texts")
		}
	}
}

func TestParseRefusesOtherTokens(t *testing.T) {
	v := NewVocabulary()
	_, tokens := draw(v, seed.FromEnvSeed(2))
	for name, bad := range map[string][]int32{
		"empty": {}, "short": tokens[:len(tokens)-1], "long": append(append([]int32{}, tokens...), 0),
		"foreign": append([]int32{v.Size}, tokens[1:]...), "negative": append([]int32{-1}, tokens[1:]...),
	} {
		if _, err := v.Parse(bad); err == nil {
			t.Errorf("%s tokens were accepted", name)
		}
	}
}

// TestSourcesAreSound plays many designs: the reference solution solves, returns and verification agree, random play
// does not fail.
func TestSourcesAreSound(t *testing.T) {
	v := NewVocabulary()
	r := seed.FromEnvSeed(3)
	for i := range 20 * Mechanics() {
		d, _ := draw(v, r)
		d.Mechanic = i % Mechanics()
		code := Compose(d, sampleDocs())
		if err := sound(code, r); err != nil {
			t.Fatalf("design %+v: %v\n%s", d, err, numbered(code))
		}
	}
}

func sound(code string, r *seed.Rand) error {
	env, loaded := interp.Load(code, wire.DefaultLimits())
	if env == nil {
		return fmt.Errorf("%s: %s", loaded.Stage, loaded.Fault.Error)
	}
	for ep := range 3 {
		start := env.Reset(wire.Reset{Episode: ep, Seed: r.Uint64(), WantHint: true, WantSolve: true})
		if start.Outcome != wire.Ongoing {
			return fmt.Errorf("reset: %s", start.Error)
		}
		var last wire.Stepped
		actions := start.Actions
		for i := 0; last.Outcome == wire.Ongoing; i++ {
			var a string
			switch {
			case ep == 0 && i < len(start.Solution):
				a = start.Solution[i]
			case ep == 0:
				return fmt.Errorf("the solution %q does not end the episode", start.Solution)
			case len(actions) == 0:
				return fmt.Errorf("no legal action at step %d", i)
			case ep == 1:
				a = actions[r.IntN(len(actions))]
			default:
				a = "no such action"
			}
			if strings.Contains(code, "@") {
				return fmt.Errorf("unfilled mark")
			}
			last = env.Step(wire.Action{Episode: ep, Text: a})
			actions = last.Actions
		}
		if last.Outcome != wire.Solved && last.Outcome != wire.Failed || last.Verify == nil || math.Abs(*last.Verify-last.Return) > 1e-6 {
			return fmt.Errorf("episode %d: %s %s, return %v", ep, last.Outcome, last.Error, last.Return)
		}
		if ep == 0 && last.Outcome != wire.Solved {
			return fmt.Errorf("the solution %q scores %v", start.Solution, last.Return)
		}
		if !last.Terminated {
			return fmt.Errorf("episode %d was truncated", ep)
		}
	}
	return nil
}

func numbered(code string) string {
	var b strings.Builder
	for i, l := range strings.Split(code, "\n") {
		fmt.Fprintf(&b, "%3d %s\n", i+1, l)
	}
	return b.String()
}

func TestComposeNeedsNoDocuments(t *testing.T) {
	v := NewVocabulary()
	r := seed.FromEnvSeed(4)
	for range 60 {
		d, _ := draw(v, r)
		if err := sound(Compose(d, nil), r); err != nil {
			t.Fatalf("design %+v: %v", d, err)
		}
	}
}
