package designer

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Append writes the model behind b.
func (m *Model) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.logits)))
	for _, x := range m.logits {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(x))
	}
	b = binary.BigEndian.AppendUint32(b, uint32(len(m.mean)))
	for i, x := range m.mean {
		b = binary.BigEndian.AppendUint64(b, math.Float64bits(x))
		seen := byte(0)
		if m.seen[i] {
			seen = 1
		}
		b = append(b, seen)
	}
	return b
}

// Decode reads a model from the front of b and returns the rest.
func Decode(b []byte) (*Model, []byte, error) {
	m := New()
	b, err := expect(b, len(m.logits), 8)
	if err != nil {
		return nil, nil, fmt.Errorf("designer: %w", err)
	}
	for i := range m.logits {
		m.logits[i] = math.Float64frombits(binary.BigEndian.Uint64(b))
		if m.logits[i]-m.logits[i] != 0 {
			return nil, nil, fmt.Errorf("designer: logit %d is not finite", i)
		}
		b = b[8:]
	}
	if b, err = expect(b, len(m.mean), 9); err != nil {
		return nil, nil, fmt.Errorf("designer: %w", err)
	}
	for i := range m.mean {
		m.mean[i] = math.Float64frombits(binary.BigEndian.Uint64(b))
		m.seen[i] = b[8] == 1
		b = b[9:]
	}
	return m, b, nil
}

// expect reads a count, which must be n, and checks that n entries of some size follow.
func expect(b []byte, n, size int) ([]byte, error) {
	if len(b) < 4 {
		return nil, fmt.Errorf("cut short")
	}
	if got := binary.BigEndian.Uint32(b); got != uint32(n) {
		return nil, fmt.Errorf("%d entries, this build has %d", got, n)
	}
	if len(b[4:]) < n*size {
		return nil, fmt.Errorf("cut short")
	}
	return b[4:], nil
}

// Logprob is the log-probability of a design's tokens.
func (m *Model) Logprob(tokens []int32) float64 {
	var sum float64
	for _, t := range tokens {
		node := m.vocab.NodeOf(t)
		if node < 0 {
			return math.Inf(-1)
		}
		n := m.vocab.Nodes[node]
		sum += math.Log(m.probabilities(n)[t-n.Base])
	}
	return sum
}
