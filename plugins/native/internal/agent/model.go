package agent

import (
	"math"
)

// Bits is the default size of the weight table: 2^14 weights.
const Bits = 14

// Model is a table of weights. It is immutable while it generates; Learn works on a Clone.
type Model struct {
	weights []float32

	mask uint32
}

// New returns a model of 2^bits zero weights.
func New(bits int) *Model {
	n := 1 << bits
	return &Model{weights: make([]float32, n), mask: uint32(n - 1)}
}

// Clone copies the model.
func (m *Model) Clone() *Model {
	return &Model{weights: append([]float32(nil), m.weights...), mask: m.mask}
}

// vector is the sparse, scaled features of one action.
type vector struct {
	groups [3]group
	scale  [3]float64
}

func (m *Model) vectors(s *scene) []vector {
	fs := s.extract()
	vs := make([]vector, len(fs))
	for i := range fs {
		vs[i].groups = [3]group{fs[i].relational, fs[i].lexical, fs[i].cross}
		for g := range vs[i].groups {
			if n := len(vs[i].groups[g]); n > 0 {
				vs[i].scale[g] = 1 / math.Sqrt(float64(n))
			}
			for k := range vs[i].groups[g] {
				vs[i].groups[g][k] &= m.mask
			}
		}
	}
	return vs
}

func (m *Model) score(v *vector) float64 {
	var total float64
	for g := range v.groups {
		var sum float64
		for _, k := range v.groups[g] {
			sum += float64(m.weights[k])
		}
		total += float64(sum * v.scale[g])
	}
	return total
}

// probabilities are the softmax of the scores, plus the hint's bonus, at a temperature.
func (m *Model) probabilities(s *scene, vs []vector, temperature float64) []float64 {
	bonus := s.hintBonus()
	ps := make([]float64, len(vs))
	for i := range vs {
		ps[i] = float64((m.score(&vs[i]) + bonus[i]) / temperature)
	}
	softmax(ps)
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

// Choose answers a prompt: the index of a legal action and its log-probability. u is uniform in [0, 1). Temperature 0
// takes the most likely action, the first of equals.
func (m *Model) Choose(messages []Message, choices []string, temperature, u float64) (int, float64) {
	s := newScene(messages, choices)
	greedy := temperature <= 0
	if greedy {
		temperature = 1
	}
	ps := m.probabilities(s, m.vectors(s), temperature)
	pick := len(ps) - 1
	if greedy {
		pick = 0
		for i, p := range ps {
			if p > ps[pick] {
				pick = i
			}
		}
		return pick, math.Log(ps[pick])
	}
	for i, p := range ps {
		if u < p {
			pick = i
			break
		}
		u -= p
	}
	return pick, math.Log(max(ps[pick], 1e-300))
}
