package plugins

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"iter"
	"slices"

	"github.com/apache/arrow/go/v17/arrow"
)

// Capabilities that a plugin may declare.
const (
	CapTokens        = "tokens"        // completions carry exact token ids
	CapLogprobs      = "logprobs"      // completions carry a log-probability per token
	CapScore         = "score"         // Score is served
	CapDeterministic = "deterministic" // the same input gives the same bytes, for Generate and Train
)

// Info describes a plugin.
type Info struct {
	Name             string
	Version          string
	Roles            []string
	Device           string
	Capabilities     []string
	CheckpointFormat string
}

// Has reports whether the plugin declares a capability.
func (i Info) Has(capability string) bool { return slices.Contains(i.Capabilities, capability) }

// Checkpoint is the whole state of one policy version. Data is nil when the bytes lie at Location.
type Checkpoint struct {
	SHA256   string // hexadecimal
	Bytes    int64
	Format   string
	Location string
	Data     []byte
}

// NewCheckpoint names data by its content.
func NewCheckpoint(format string, data []byte) Checkpoint {
	sum := sha256.Sum256(data)
	return Checkpoint{SHA256: hex.EncodeToString(sum[:]), Bytes: int64(len(data)), Format: format, Data: data}
}

// Verify checks Data against SHA256 and Bytes.
func (c Checkpoint) Verify() error {
	got := NewCheckpoint(c.Format, c.Data)
	if got.SHA256 != c.SHA256 || got.Bytes != c.Bytes {
		return &PermanentError{Message: fmt.Sprintf("checkpoint is %d bytes with sha256 %s, expected %d bytes with %s", got.Bytes, got.SHA256, c.Bytes, c.SHA256)}
	}
	return nil
}

// Metric is one figure of a training step.
type Metric struct {
	Name  string
	Value float64
}

// Result is the outcome of a training step.
type Result struct {
	Version    int64
	Metrics    []Metric // sorted by name
	Rows       int64
	Roles      []string // the roles that learned
	Checkpoint Checkpoint
}

// Metric returns a metric by name.
func (r Result) Metric(name string) (float64, bool) {
	for _, m := range r.Metrics {
		if m.Name == name {
			return m.Value, true
		}
	}
	return 0, false
}

// Health is the state of a plugin.
type Health struct {
	Ready    bool
	Message  string
	Versions []int64 // loaded policy versions, ascending
}

// Batches is a stream of record batches. A record is valid until the next one is asked for. The first error ends it.
type Batches = iter.Seq2[arrow.Record, error]
