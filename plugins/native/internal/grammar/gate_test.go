package grammar

import (
	"math"
	"testing"

	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/seed"
)

func TestMain(m *testing.M) { gymtest.Main(m) }

// TestDesignsPassTheGate holds the share of uniform designs that the acceptance gate takes.
func TestDesignsPassTheGate(t *testing.T) {
	const designs = 85
	pool := gymtest.NewPool(t, gym.Config{})
	v := NewVocabulary()
	r := seed.FromEnvSeed(11)
	accepted := 0
	for i := range designs {
		d, _ := draw(v, r)
		d.Mechanic = i % Mechanics()
		src := gym.Source{Runtime: gym.RuntimeStarlark, Code: Compose(d, sampleDocs())}
		report, err := gate.Check(t.Context(), pool, src, gate.Options{Portable: true, RequireSolve: true, Seed: uint64(i)})
		if err != nil {
			t.Fatal(err)
		}
		if report.Accepted {
			accepted++
			continue
		}
		t.Logf("%s (%+v): %s: %s", MechanicName(d.Mechanic), d, report.Stage, report.Reason)
	}
	if accepted < designs*95/100 {
		t.Errorf("the gate takes %d of %d designs", accepted, designs)
	}
}

// TestDesignsAreFarApart plays the memory's part: a design that is nearer than the threshold to an earlier one is refused,
// and what remains must not starve a run.
func TestDesignsAreFarApart(t *testing.T) {
	const designs = 250
	v := NewVocabulary()
	r := seed.FromEnvSeed(12)
	var kept [][]float32
	for range designs {
		d, _ := draw(v, r)
		vec, err := embedding.Builtin{}.Embed(t.Context(), []string{Compose(d, sampleDocs())}, embedding.Code)
		if err != nil {
			t.Fatal(err)
		}
		near := false
		for _, k := range kept {
			near = near || cosine(k, vec[0]) >= embedding.DefaultDuplicateThreshold
		}
		if !near {
			kept = append(kept, vec[0])
		}
	}
	t.Logf("%d of %d designs are new", len(kept), designs)
	if len(kept) < designs*85/100 {
		t.Errorf("only %d of %d designs are new", len(kept), designs)
	}
}

func cosine(a, b []float32) float64 {
	var dot, aa, bb float64
	for i := range a {
		dot += float64(a[i]) * float64(b[i])
		aa += float64(a[i]) * float64(a[i])
		bb += float64(b[i]) * float64(b[i])
	}
	return dot / (math.Sqrt(aa) * math.Sqrt(bb))
}
