package designer

import (
	"math"
	"sync"

	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/plugins/native/internal/grammar"
)

// Settings of learning and drawing.
const (
	rate      = 0.1
	levelRate = 0.2
	clip      = 4.0
	floor     = 0.2   // the share of choices that are drawn uniformly
	decay     = 0.005 // each step of learning
	smoothing = 0.4   // of a level's step that its neighbours take
	memory    = 0.9   // of a running mean
)

// Model is the logits of every choice, and the running means of pay. It is immutable while it draws; Learn works on a
// Clone.
type Model struct {
	vocab  *grammar.Vocabulary
	logits []float64
	mean   []float64 // of pay, one for each mechanic and one for all at the end
	seen   []bool
}

// New returns the uniform designer.
func New() *Model {
	v := sharedVocabulary()
	return &Model{vocab: v, logits: make([]float64, v.Size), mean: make([]float64, grammar.Mechanics()+1), seen: make([]bool, grammar.Mechanics()+1)}
}

// The vocabulary is a constant that takes a moment to build.
var sharedVocabulary = sync.OnceValue(grammar.NewVocabulary)

// Clone copies the model.
func (m *Model) Clone() *Model {
	c := *m
	c.logits = append([]float64(nil), m.logits...)
	c.mean = append([]float64(nil), m.mean...)
	c.seen = append([]bool(nil), m.seen...)
	return &c
}

// probabilities of a node's choices, exploration included.
func (m *Model) probabilities(n grammar.Node) []float64 {
	ps := append([]float64(nil), m.logits[n.Base:n.Base+int32(n.Size)]...)
	softmax(ps)
	for i := range ps {
		ps[i] = float64((1-floor)*ps[i]) + floor/float64(n.Size)
	}
	return ps
}

func softmax(xs []float64) {
	top := math.Inf(-1)
	for _, x := range xs {
		top = max(top, x)
	}
	var sum float64
	for i, x := range xs {
		xs[i] = math.Exp(x - top)
		sum += xs[i]
	}
	for i := range xs {
		xs[i] /= sum
	}
}

// Draw makes a design. It returns its tokens and their log-probabilities.
func (m *Model) Draw(r *seed.Rand) (grammar.Design, []int32, []float32) {
	var tokens []int32
	var logprobs []float32
	d, _ := m.vocab.Draw(func(node int) (int, error) {
		n := m.vocab.Nodes[node]
		ps := m.probabilities(n)
		c := pick(ps, r.Float64())
		tokens = append(tokens, n.Base+int32(c))
		logprobs = append(logprobs, float32(math.Log(ps[c])))
		return c, nil
	})
	return d, tokens, logprobs
}

func pick(ps []float64, u float64) int {
	for i, p := range ps {
		if u < p {
			return i
		}
		u -= p
	}
	return len(ps) - 1
}
