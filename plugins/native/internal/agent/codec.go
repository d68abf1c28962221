package agent

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
)

const maxWeights = 1 << 20

// Append writes the model behind b.
func (m *Model) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.weights)))
	b = binary.BigEndian.AppendUint32(b, m.updates)
	for _, w := range m.weights {
		b = binary.BigEndian.AppendUint32(b, math.Float32bits(w))
	}
	return b
}

// Decode reads a model from the front of b and returns the rest.
func Decode(b []byte) (*Model, []byte, error) {
	if len(b) < 8 {
		return nil, nil, fmt.Errorf("agent: cut short")
	}
	n := binary.BigEndian.Uint32(b)
	updates := binary.BigEndian.Uint32(b[4:])
	b = b[8:]
	if n == 0 || n > maxWeights || bits.OnesCount32(n) != 1 || uint64(len(b)) < 4*uint64(n) {
		return nil, nil, fmt.Errorf("agent: %d weights in %d bytes", n, len(b))
	}
	m := New(bits.TrailingZeros32(n))
	m.updates = updates
	for i := range m.weights {
		w := math.Float32frombits(binary.BigEndian.Uint32(b))
		if w-w != 0 {
			return nil, nil, fmt.Errorf("agent: weight %d is not finite", i)
		}
		m.weights[i] = w
		b = b[4:]
	}
	return m, b, nil
}

// Logprob is the log-probability of one of the choices.
func (m *Model) Logprob(messages []Message, choices []string, chosen int) float64 {
	s := newScene(messages, choices)
	if chosen >= len(s.actions) {
		return math.Inf(-1)
	}
	vs := m.vectors(s)
	return math.Log(max(m.probabilities(s, &vs, 1)[chosen], 1e-300))
}
