package agent

import (
	"math"
)

// Bits is the default size of the weight table: 2^14 weights.
const Bits = 14

// Model is a table of weights. It is immutable while it generates; Learn works on a Clone.
type Model struct {
	weights []float32
	mask    uint32
	updates uint32 // how often it has learned
}

// New returns a model of 2^bits zero weights.
func New(bits int) *Model {
	n := 1 << bits
	return &Model{weights: make([]float32, n), mask: uint32(n - 1)}
}

// Clone copies the model.
func (m *Model) Clone() *Model {
	return &Model{weights: append([]float32(nil), m.weights...), mask: m.mask, updates: m.updates}
}

// vector is the sparse features of one action.
type vector [groups]group

// Groups of features that are scaled apart.
const (
	groupRelational = iota
	groupLexical
	groupCross
	groups
)

// groupScale is what the groups weigh against each other: relations carry over to other words, words do not.
func groupScale() [groups]float64 { return [groups]float64{1, 0.5, 0.5} }

// vectors are the features of all actions of one decision. A group's scale is the same for all of them, so that what they
// have in common cancels out.
type vectors struct {
	actions []vector
	scale   [groups]float64
}

func (m *Model) vectors(s *scene) vectors {
	fs := s.extract()
	vs := vectors{actions: make([]vector, len(fs))}
	var most [groups]int
	for i := range fs {
		v := &vs.actions[i]
		*v = vector{groupRelational: fs[i].relational, groupLexical: fs[i].lexical, groupCross: fs[i].cross}
		for g := range v {
			most[g] = max(most[g], len(v[g]))
			for k := range v[g] {
				v[g][k] &= m.mask
			}
		}
	}
	scale := groupScale()
	for g, n := range most {
		if n > 0 {
			vs.scale[g] = scale[g] / math.Sqrt(float64(n))
		}
	}
	return vs
}

func (m *Model) score(v *vector, scale *[groups]float64) float64 {
	var total float64
	for g := range v {
		var sum float64
		for _, k := range v[g] {
			sum += float64(m.weights[k])
		}
		total += float64(sum * scale[g])
	}
	return total
}

// probabilities are the softmax of the scores, plus the hint's bonus, at a temperature.
func (m *Model) probabilities(s *scene, vs *vectors, temperature float64) []float64 {
	bonus := s.hintBonus()
	ps := make([]float64, len(vs.actions))
	for i := range vs.actions {
		ps[i] = float64((m.score(&vs.actions[i], &vs.scale) + bonus[i]) / temperature)
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
	vs := m.vectors(s)
	ps := m.probabilities(s, &vs, temperature)
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
