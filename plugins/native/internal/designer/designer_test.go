package designer

import (
	"math"
	"reflect"
	"testing"

	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/plugins/native/internal/grammar"
)

func TestDrawnLogprobsAreTheModelsOwn(t *testing.T) {
	m := New()
	_, tokens, logprobs := m.Draw(seed.FromEnvSeed(1))
	var sum float64
	for _, l := range logprobs {
		sum += float64(l)
	}
	if len(tokens) != len(logprobs) || math.Abs(sum-m.Logprob(tokens)) > 1e-4 {
		t.Errorf("%d tokens, %d log-probabilities of %v, the model says %v", len(tokens), len(logprobs), sum, m.Logprob(tokens))
	}
	if err := m.Check(tokens); err != nil {
		t.Error(err)
	}
}

func TestPayShiftsTheMechanics(t *testing.T) {
	m := New()
	r := seed.FromEnvSeed(2)
	const paid = 3
	for range 60 {
		var samples []Sample
		for range 8 {
			d, tokens, _ := m.Draw(r)
			s := Sample{Tokens: tokens}
			if d.Mechanic == paid {
				s.Reward = 1
			}
			samples = append(samples, s)
		}
		m.Learn(samples)
	}
	ps := m.probabilities(m.vocab.Nodes[0])
	uniform := 1 / float64(grammar.Mechanics())
	if ps[paid] < 2*uniform {
		t.Errorf("the mechanic that pays has probability %.3f, uniform is %.3f", ps[paid], uniform)
	}
	for i, p := range ps {
		if p < floor/float64(grammar.Mechanics())-1e-12 {
			t.Errorf("mechanic %d fell below the floor: %v", i, p)
		}
	}
}

func TestLogitsStayWithinTheClip(t *testing.T) {
	m := New()
	_, tokens, _ := m.Draw(seed.FromEnvSeed(3))
	m.Learn([]Sample{{Tokens: tokens, Reward: 0}, {Tokens: tokens, Reward: 1e9}})
	for i, l := range m.logits {
		if math.Abs(l) > clip {
			t.Fatalf("logit %d is %v", i, l)
		}
	}
}

func TestSaltIsNotLearned(t *testing.T) {
	m := New()
	_, tokens, _ := m.Draw(seed.FromEnvSeed(4))
	m.Learn([]Sample{{Tokens: tokens, Reward: 0}, {Tokens: tokens, Reward: 1}})
	for _, n := range m.vocab.Nodes {
		if n.Learned {
			continue
		}
		for i := range n.Size {
			if m.logits[n.Base+int32(i)] != 0 {
				t.Fatalf("%s was learned", n.Name)
			}
		}
	}
}

func TestModelComesBackEqual(t *testing.T) {
	m := New()
	_, tokens, _ := m.Draw(seed.FromEnvSeed(5))
	m.Learn([]Sample{{Tokens: tokens, Reward: 0.5}, {Tokens: tokens, Reward: 0.75}})
	back, rest, err := Decode(append(m.Append(nil), 1))
	if err != nil || len(rest) != 1 || !reflect.DeepEqual(back.Append(nil), m.Append(nil)) {
		t.Errorf("%v, rest %v", err, rest)
	}
	if _, _, err := Decode(m.Append(nil)[:100]); err == nil {
		t.Error("a cut model was read")
	}
}

func TestDocumentsAreReadFromThePrompt(t *testing.T) {
	prompt := "<<<document id=a1 title=Copper and tin\nCopper melts.\n <<<not a header\n>>>\n" +
		"<<<neighbour id=n1 similarity=0.5 kind=game\nSome title\n>>>\n" +
		"<<<document id=b2 title=Tides\nThe Moon pulls.\n>>>\nWrite one."
	want := []grammar.Doc{
		{ID: "a1", Title: "Copper and tin", Text: "Copper melts.\n <<<not a header\n"},
		{ID: "b2", Title: "Tides", Text: "The Moon pulls.\n"},
	}
	if got := Documents([]string{"system text", prompt}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(New().Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, _, err := Decode(b); err == nil {
			m.Draw(seed.FromEnvSeed(1))
		}
	})
}
