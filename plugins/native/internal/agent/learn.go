package agent

import (
	"math"
)

// Sample is one decision to learn from.
type Sample struct {
	Messages  []Message
	Choices   []string
	Chosen    int
	Advantage float64
}

// Options of learning. Zero fields take the defaults.
type Options struct {
	Rate   float64 // of the first update
	Epochs int     // passes over the samples
	Cool   float64 // the rate of update n is Rate / (1 + Cool n)
}

// Defaults, found with package learnbench on the development suite.
const (
	DefaultRate   = 0.6
	DefaultEpochs = 3
	DefaultCool   = 0.1
)

func (o Options) withDefaults() Options {
	if o.Rate == 0 {
		o.Rate = DefaultRate
	}
	if o.Epochs == 0 {
		o.Epochs = DefaultEpochs
	}
	if o.Cool == 0 {
		o.Cool = DefaultCool
	}
	return o
}

// Stats are the figures of one call of Learn.
type Stats struct {
	Samples  int
	Loss     float64
	Entropy  float64
	GradNorm float64
}

// Learn takes a policy-gradient step on each sample, in order.
func (m *Model) Learn(samples []Sample, opt Options) Stats {
	opt = opt.withDefaults()
	var st Stats
	var squares float64
	opt.Rate /= 1 + float64(opt.Cool*float64(m.updates))
	m.updates++
	for range opt.Epochs {
		for i := range samples {
			g := m.learnOne(&samples[i], opt, &st)
			squares += float64(g * g)
		}
	}
	if st.Samples > 0 {
		n := float64(st.Samples)
		st.Loss, st.Entropy, st.GradNorm = st.Loss/n, st.Entropy/n, math.Sqrt(squares/n)
	}
	return st
}

func (m *Model) learnOne(x *Sample, opt Options, st *Stats) float64 {
	if x.Advantage == 0 || len(x.Choices) < 2 {
		return 0
	}
	s := newScene(x.Messages, x.Choices)
	if x.Chosen >= len(s.actions) {
		return 0 // beyond the choices that this agent considers
	}
	vs := m.vectors(s)
	ps := m.probabilities(s, &vs, 1)
	st.Samples++
	st.Loss -= float64(x.Advantage * math.Log(max(ps[x.Chosen], 1e-12)))
	var norm float64
	for i := range vs.actions {
		d := -ps[i]
		if i == x.Chosen {
			d++
		}
		if ps[i] > 0 {
			st.Entropy -= float64(ps[i] * math.Log(ps[i]))
		}
		m.move(&vs.actions[i], &vs.scale, float64(opt.Rate*float64(x.Advantage*d)))
		norm += float64(d * d)
	}
	return math.Sqrt(norm) * math.Abs(x.Advantage)
}

func (m *Model) move(v *vector, scale *[groups]float64, by float64) {
	for g := range v {
		step := float32(float64(by * scale[g]))
		for _, k := range v[g] {
			m.weights[k] += step
		}
	}
}
