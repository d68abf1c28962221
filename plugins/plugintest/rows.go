package plugintest

import (
	"fmt"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/schemas/training"
)

// AgentPrompts returns n prompts with choices, of growing conversations.
func AgentPrompts(n int) []policy.Prompt {
	out := make([]policy.Prompt, n)
	for i := range out {
		p := policy.Prompt{ID: fmt.Sprint("p", i), Seed: uint64(1000 + i), Choices: []string{"open red", "open blue", "wait"}}
		p.Messages = []policy.Message{{Role: "user", Content: "Task: open the door\nDoor: blue\nTurn: 0"}}
		for j := range i % 4 {
			p.Messages = append(p.Messages, policy.Message{Role: "assistant", Content: "wait"},
				policy.Message{Role: "user", Content: fmt.Sprint("Door: blue\nTurn: ", j+1)})
		}
		p.Sampling.Temperature = 1
		out[i] = p
	}
	return out
}

// DesignerPrompts returns n prompts in the form that the designer sends.
func DesignerPrompts(n int) []policy.Prompt {
	out := make([]policy.Prompt, n)
	for i := range out {
		out[i] = policy.Prompt{ID: fmt.Sprint("d", i), Seed: uint64(77 + i), Messages: []policy.Message{
			{Role: "system", Content: "Write one training environment in the functional form."},
			{Role: "user", Content: "<<<document id=d1 title=Copper\nCopper is a metal. Copper melts at 1085 degrees. Bronze holds copper and tin.\n>>>\nWrite the environment."},
		}}
		out[i].Sampling.Temperature = 1
	}
	return out
}

// AgentRows returns rows in groups of four, in which choosing "open blue" has the advantage.
func AgentRows(n int) []training.Row {
	rows := make([]training.Row, n)
	for i := range rows {
		choices := []string{"open red", "open blue", "wait"}
		pick := i % len(choices)
		adv := -0.5
		if pick == 1 {
			adv = 1
		}
		rows[i] = training.Row{
			Role: training.RoleAgent, RolloutID: fmt.Sprint("r", i), EnvID: "e", GroupID: fmt.Sprint("g", i/4), Arm: "plain", Seed: uint64(i),
			Messages: []training.Message{{Role: "user", Content: "Task: open the door\nDoor: blue"}}, Choices: choices,
			Completion: choices[pick], TokenIDs: []int32{int32(pick)}, Logprobs: []float32{-1.0986}, Reward: max(adv, 0), Advantage: adv,
		}
	}
	return rows
}

// Batches builds record batches of rows; they are released when the test ends.
func Batches(tb testing.TB, maxBytes int, rows []training.Row) plugins.Batches {
	tb.Helper()
	var recs []arrow.Record
	b := training.NewBuilder(memory.DefaultAllocator, maxBytes, func(rec arrow.Record) error {
		rec.Retain()
		recs = append(recs, rec)
		return nil
	})
	defer b.Release()
	for i := range rows {
		if err := b.Append(&rows[i]); err != nil {
			tb.Fatal(err)
		}
	}
	if err := b.Flush(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		for _, r := range recs {
			r.Release()
		}
	})
	return func(yield func(arrow.Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}
