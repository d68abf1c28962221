package embedding

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/vector"
)

// suiteSources are the held-out environments: real functional sources by one
// author in one style, so what they have in common is more than strangers have.
func suiteSources(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("../../examples/suites/*/*/*.star")
	if err != nil || len(files) < 20 {
		t.Fatalf("%d suite sources, %v", len(files), err)
	}
	out := map[string]string{}
	for _, f := range files {
		data, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		out[strings.TrimSuffix(filepath.Base(f), ".star")] = string(data)
	}
	return out
}

func similarity(a, b string) float64 { return vector.Cosine(embedCode(a), embedCode(b)) }

// Near-copies are above the threshold, other sources far below, and the same
// mechanic about other things below.
func TestSeparation(t *testing.T) {
	sources := suiteSources(t)
	vectors := map[string][]float32{}
	for name, source := range sources {
		vectors[name] = embedCode(source)
	}
	lowestCopy, highestOther, lowestRefit, highestRefit := 1.0, 0.0, 1.0, 0.0
	for name, source := range sources {
		for kind, copied := range map[string]string{
			"renamed": renamed(t, source), "renumbered": renumbered(t, source), "reordered": reordered(t, source),
			"rekeyed": rekeyed(source), "all": rekeyed(renumbered(t, reordered(t, renamed(t, source)))),
		} {
			if copied == source && kind != "rekeyed" {
				t.Errorf("%s: %s changed nothing", name, kind)
			}
			s := similarity(source, copied)
			lowestCopy = min(lowestCopy, s)
			if s < DefaultDuplicateThreshold+0.015 {
				t.Errorf("%s: %s copy at %v", name, kind, s)
			}
		}
		s := similarity(source, refitted(t, source))
		lowestRefit, highestRefit = min(lowestRefit, s), max(highestRefit, s)
		if s >= DefaultDuplicateThreshold-0.04 {
			t.Errorf("%s about other things at %v", name, s)
		}
		for other := range sources {
			if other <= name {
				continue
			}
			s := vector.Cosine(vectors[name], vectors[other])
			highestOther = max(highestOther, s)
			if s >= SameKindSimilarity-0.04 {
				t.Errorf("%s and %s at %v", name, other, s)
			}
		}
	}
	t.Logf("of %d sources: near-copies from %.3f, same mechanic about other things from %.3f to %.3f, different sources up to %.3f",
		len(sources), lowestCopy, lowestRefit, highestRefit, highestOther)
}

func TestPythonClassesGoThroughTheTokeniser(t *testing.T) {
	read := func(name string) string {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	orchard, ferry := read("orchard.py"), read("ferry.py")
	copied := strings.NewReplacer("self.rows", "self.lines", "row[", "line_[", " row ", " line_ ", "frost", "cold", "0.25", "0.5", "12", "40").Replace(orchard)
	head, tail, _ := strings.Cut(copied, "    def actions")
	moved, rest, _ := strings.Cut("    def actions"+tail, "    def look")
	copied = head + "    def look" + rest + "\n" + moved
	if s := similarity(orchard, copied); s < DefaultDuplicateThreshold {
		t.Errorf("near-copy at %v", s)
	}
	if s := similarity(orchard, ferry); s > 0.8 {
		t.Errorf("different classes at %v", s)
	}
}

func TestDocuments(t *testing.T) {
	embed := func(s string) []float32 {
		v, err := Builtin{}.Embed(context.Background(), []string{s}, Document)
		if err != nil {
			t.Fatal(err)
		}
		return v[0]
	}
	bridge := embed("A suspension bridge hangs its deck from cables that are anchored at both ends.")
	bridges := embed("The cables of suspension bridges carry the weight of the deck to anchors.")
	bread := embed("Knead the dough until it is smooth, let it rise and bake it in a hot oven.")
	if near, far := vector.Cosine(bridge, bridges), vector.Cosine(bridge, bread); near < far+0.2 || near < 0.3 {
		t.Errorf("near %v, far %v", near, far)
	}
}

// Prose finds the sources that speak of the same things.
func TestQueriesFindCodeByItsWords(t *testing.T) {
	sources := suiteSources(t)
	q := embedQuery("How a thermostat keeps the temperature of a room: the heater is switched on when it is cold.")
	best, name := -1.0, ""
	for n, code := range sources {
		if s := vector.Cosine(q, embedCode(code)); s > best {
			best, name = s, n
		}
	}
	if name != "thermostat" {
		t.Errorf("found %s at %v", name, best)
	}
}

func TestVectorsAreUnitAndTheSameEverywhere(t *testing.T) {
	texts := []string{"def reset(seed):\n    return {\"a\": 1}, \"look\", {}\n", "Ein Text über Brücken, 12 Zeilen lang.", "class A:\n\tdef f(self): return 'x'"}
	sum := sha256.New()
	for _, kind := range []Kind{Code, Document, CodeQuery} {
		vs, err := Builtin{}.Embed(context.Background(), texts, kind)
		if err != nil {
			t.Fatal(err)
		}
		for _, v := range vs {
			var sq float64
			for _, x := range v {
				sq += float64(x) * float64(x)
			}
			if len(v) != (Builtin{}).Dim() || math.Abs(sq-1) > 1e-6 {
				t.Errorf("%d dimensions, squared length %v", len(v), sq)
			}
			if err := binary.Write(sum, binary.LittleEndian, v); err != nil {
				t.Fatal(err)
			}
		}
	}
	// A change of this digest is a change of the vectors: raise builtinModel with it.
	const want = "ac0e59e51e99827f"
	if got := hex.EncodeToString(sum.Sum(nil)[:8]); got != want {
		t.Errorf("vectors of %s have digest %s, want %s", builtinModel, got, want)
	}
}

func TestOddInput(t *testing.T) {
	deep := bytes.Repeat([]byte("("), 250_000)
	for name, text := range map[string]string{
		"empty": "", "blank": " \n\t", "deep": string(deep), "nul": "a\x00b", "invalid": "\xff\xfe def", "symbols": "+-*/",
		"prefixes": "x = " + strings.Repeat("not ", 20_000) + "y", "long sum": "x = " + strings.Repeat("a+", 20_000) + "a",
	} {
		for _, kind := range []Kind{Code, Document, CodeQuery} {
			v, err := Builtin{}.Embed(context.Background(), []string{text}, kind)
			if err != nil || len(v) != 1 || len(v[0]) != builtinDim {
				t.Errorf("%s as %s: %v", name, kind, err)
				continue
			}
			for _, x := range v[0] {
				if math.IsNaN(float64(x)) {
					t.Fatalf("%s as %s: NaN", name, kind)
				}
			}
		}
	}
	var unknown *UnknownKindError
	if _, err := (Builtin{}).Embed(context.Background(), []string{"x"}, "poem"); !errors.As(err, &unknown) {
		t.Errorf("unknown kind: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := (Builtin{}).Embed(ctx, []string{"x"}, Code); !errors.Is(err, context.Canceled) {
		t.Errorf("ended context: %v", err)
	}
}

func FuzzEmbedCode(f *testing.F) {
	f.Add("def step(s, a):\n  return [x for x in s if x], {}\n")
	f.Add("class A:\n  pass # '''")
	f.Fuzz(func(t *testing.T, source string) {
		for _, x := range embedCode(source) {
			if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
				t.Fatal("not a number")
			}
		}
	})
}

func BenchmarkEmbedCode(b *testing.B) {
	data, err := os.ReadFile("../../examples/suites/development/tools/deploy-steps.star")
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		embedCode(string(data))
	}
}
