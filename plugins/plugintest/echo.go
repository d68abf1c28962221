package plugintest

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/schemas/training"
)

// Echo is a trainer without a model: its whole state is the number of rows it has seen, and it answers from the seed.
type Echo struct {
	mu       sync.Mutex // guards the following
	versions map[int64]uint64
}

const echoFormat = "spade-echo/1"

// Info describes the plugin.
func (e *Echo) Info() plugins.Info {
	return plugins.Info{
		Name: "echo", Version: "1.0.0", Roles: []string{"agent", "designer"}, Device: "cpu", CheckpointFormat: echoFormat,
		Capabilities: []string{plugins.CapTokens, plugins.CapLogprobs, plugins.CapScore, plugins.CapDeterministic},
	}
}

// Open restores the count.
func (e *Echo) Open(_ context.Context, _ string, version int64, ck *plugins.Checkpoint) (int64, error) {
	e.mu.Lock()
	e.versions = map[int64]uint64{}
	e.mu.Unlock()
	if ck == nil {
		e.put(0, 0)
		return 0, nil
	}
	return version, e.Load(context.Background(), version, *ck)
}

func (e *Echo) put(version int64, count uint64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.versions[version] = count
}

func (e *Echo) count(version int64) (uint64, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	n, ok := e.versions[version]
	if !ok {
		return 0, &plugins.VersionNotLoadedError{Version: version, Loaded: e.loaded()}
	}
	return n, nil
}

func (e *Echo) loaded() []int64 {
	var out []int64
	for v := range e.versions {
		out = append(out, v)
	}
	slices.Sort(out)
	return out
}

// Generate picks a choice by the seed and the count.
func (e *Echo) Generate(ctx context.Context, _ policy.Role, version int64, prompts []policy.Prompt, emit func([]policy.Completion) error) error {
	n, err := e.count(version)
	if err != nil {
		return err
	}
	for _, p := range prompts {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		text, token := fmt.Sprintf("version %d seed %d", version, p.Seed), int32(p.Seed%1000)
		if len(p.Choices) > 0 {
			i := (p.Seed + n) % uint64(len(p.Choices))
			text, token = p.Choices[i], int32(i)
		}
		c := policy.Completion{ID: p.ID, Text: text, TokenIDs: []int32{token}, Logprobs: []float32{-1}, StopReason: "stop", CompletionTokens: 1}
		for _, m := range p.Messages {
			c.PromptTokens += len(strings.Fields(m.Content))
		}
		if err := emit([]policy.Completion{c}); err != nil {
			return err
		}
	}
	return nil
}

// Train counts rows.
func (e *Echo) Train(_ context.Context, from, to int64, batches plugins.Batches) (plugins.Result, error) {
	n, err := e.count(from)
	if err != nil {
		return plugins.Result{}, err
	}
	var rows int64
	for rec, err := range batches {
		if err != nil {
			return plugins.Result{}, err
		}
		if _, err := training.NewView(rec); err != nil {
			return plugins.Result{}, &plugins.InvalidBatchError{Row: -1, Message: err.Error()}
		}
		rows += rec.NumRows()
	}
	e.put(to, n+uint64(rows))
	ck, err := e.Save(context.Background(), to)
	return plugins.Result{Version: to, Rows: rows, Metrics: []plugins.Metric{{Name: "rows", Value: float64(rows)}}, Checkpoint: ck}, err
}

// Score gives every row the same log-probability.
func (e *Echo) Score(_ context.Context, version int64, batches plugins.Batches, emit func(arrow.Record) error) error {
	if _, err := e.count(version); err != nil {
		return err
	}
	sc := arrow.NewSchema([]arrow.Field{{Name: "logprob", Type: arrow.PrimitiveTypes.Float64}}, nil)
	for rec, err := range batches {
		if err != nil {
			return err
		}
		rb := array.NewRecordBuilder(memory.DefaultAllocator, sc)
		for range rec.NumRows() {
			rb.Field(0).(*array.Float64Builder).Append(-1)
		}
		out := rb.NewRecord()
		err := emit(out)
		out.Release()
		rb.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// Save writes the count.
func (e *Echo) Save(_ context.Context, version int64) (plugins.Checkpoint, error) {
	n, err := e.count(version)
	if err != nil {
		return plugins.Checkpoint{}, err
	}
	return plugins.NewCheckpoint(echoFormat, binary.BigEndian.AppendUint64(nil, n)), nil
}

// Load reads a count.
func (e *Echo) Load(_ context.Context, version int64, ck plugins.Checkpoint) error {
	if ck.Format != echoFormat || len(ck.Data) != 8 {
		return &plugins.PermanentError{Message: fmt.Sprintf("checkpoint of format %q and %d bytes", ck.Format, len(ck.Data))}
	}
	e.put(version, binary.BigEndian.Uint64(ck.Data))
	return nil
}

// Health lists the versions.
func (e *Echo) Health(context.Context) plugins.Health {
	e.mu.Lock()
	defer e.mu.Unlock()
	return plugins.Health{Ready: e.versions != nil, Versions: e.loaded()}
}

// Shutdown has nothing to do.
func (e *Echo) Shutdown(context.Context) error { return nil }
