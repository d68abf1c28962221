package designer

import (
	"fmt"
	"math"

	"github.com/seed256f7767/spade/plugins/native/internal/grammar"
)

// Sample is one design and what it was paid.
type Sample struct {
	Tokens []int32
	Reward float64
}

// Stats are the figures of one call of Learn.
type Stats struct {
	Samples    int
	RewardMean float64
	Entropy    float64 // of the mechanic, in nats
}

// Check refuses tokens that are no design.
func (m *Model) Check(tokens []int32) error {
	if _, err := m.vocab.Parse(tokens); err != nil {
		return fmt.Errorf("parse design: %w", err)
	}
	return nil
}

// Learn takes a step on each design, in order. The tokens must have been checked.
func (m *Model) Learn(samples []Sample) Stats {
	st := Stats{Samples: len(samples), Entropy: 0}
	for i := range m.logits {
		m.logits[i] -= float64(decay * m.logits[i])
	}
	for i := range samples {
		st.RewardMean += samples[i].Reward / float64(len(samples))
		m.learnOne(&samples[i])
	}
	ps := m.probabilities(m.vocab.Nodes[0])
	for _, p := range ps {
		st.Entropy -= float64(p * math.Log(p))
	}
	return st
}

func (m *Model) learnOne(s *Sample) {
	mechanic := int(s.Tokens[0])
	all := grammar.Mechanics()
	over := m.advantage(all, s.Reward)
	own := m.advantage(mechanic, s.Reward)
	for _, t := range s.Tokens {
		node := m.vocab.NodeOf(t)
		n := m.vocab.Nodes[node]
		if !n.Learned {
			continue
		}
		// A mechanic is judged against all others, what is chosen within it against its own mean.
		adv, r := own, rate
		if m.vocab.IsMechanic(node) {
			adv = over
		}
		_, isLevel := m.vocab.IsLevel(node)
		if isLevel {
			r = levelRate
		}
		m.step(n, int(t-n.Base), float64(r*adv), isLevel)
	}
	m.note(all, s.Reward)
	m.note(mechanic, s.Reward)
}

// advantage over the running mean, which begins with the first pay.
func (m *Model) advantage(i int, reward float64) float64 {
	if !m.seen[i] {
		return 0
	}
	return reward - m.mean[i]
}

func (m *Model) note(i int, reward float64) {
	if !m.seen[i] {
		m.seen[i], m.mean[i] = true, reward
		return
	}
	m.mean[i] = float64(memory*m.mean[i]) + float64((1-memory)*reward)
}

// step moves the logits of a node; the neighbours of a level move along.
func (m *Model) step(n grammar.Node, chosen int, by float64, level bool) {
	ps := append([]float64(nil), m.logits[n.Base:n.Base+int32(n.Size)]...)
	softmax(ps)
	for i := range n.Size {
		g := -ps[i]
		if i == chosen {
			g++
		}
		if level && (i == chosen-1 || i == chosen+1) {
			g += smoothing
		}
		at := n.Base + int32(i)
		m.logits[at] = max(-clip, min(clip, m.logits[at]+float64(by*g)))
	}
}
