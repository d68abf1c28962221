package grammar

import (
	"testing"

	"github.com/seed256f7767/spade/internal/gym/portable"
	"github.com/seed256f7767/spade/internal/gym/python/pythontest"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/seed"
)

// TestDesignsAreTheSameInPython plays designs of every mechanic in both runtimes.
func TestDesignsAreTheSameInPython(t *testing.T) {
	const designs = 1200
	driver := pythontest.Start(t, "{}")
	v := NewVocabulary()
	r := seed.FromEnvSeed(31)
	sources := map[string]bool{}
	var played pythontest.Played
	for i := range designs {
		d, _ := draw(v, r)
		d.Mechanic = i % Mechanics()
		docs := sampleDocs()
		if i%10 == 0 {
			docs = nil
		}
		code := Compose(d, docs)
		if found := portable.Check(code); len(found) > 0 {
			t.Errorf("%s is not portable: %v", MechanicName(d.Mechanic), found)
		}
		sources[code] = true
		p, err := pythontest.Same(driver, code, wire.DefaultLimits(), uint64(i), 1<<63+uint64(i))
		if err != nil {
			t.Fatalf("%s (%+v): %v\n%s", MechanicName(d.Mechanic), d, err, code)
		}
		played.Add(p)
	}
	t.Logf("%d different sources, %+v", len(sources), played)
	if len(sources) < 1000 || played.Solved < 2*designs*9/10 {
		t.Errorf("too little was played: %d sources, %+v", len(sources), played)
	}
}
