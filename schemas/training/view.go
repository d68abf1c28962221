package training

import (
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
)

// ErrSchema is the class of batches whose columns are not those of Schema.
var ErrSchema = errors.New("not a training batch")

// View reads the rows of one record batch in place. It is valid while the record is.
type View struct {
	rec                                        arrow.Record
	role, rollout, env, group, arm, completion *array.String
	iteration, step                            *array.Int32
	version                                    *array.Int64
	seed                                       *array.Uint64
	messages, choices, tokens, mask, logprobs  *array.List
	msgRole, msgContent, choiceValues          *array.String
	tokenValues                                *array.Int32
	maskValues                                 *array.Boolean
	logprobValues                              *array.Float32
	reward, advantage                          *array.Float64
}

// NewView checks the record's schema and returns a view of it.
func NewView(rec arrow.Record) (*View, error) {
	want := Schema()
	got := rec.Schema()
	if got.NumFields() != want.NumFields() {
		return nil, fmt.Errorf("%w: %d columns, want %d", ErrSchema, got.NumFields(), want.NumFields())
	}
	for i, f := range want.Fields() {
		g := got.Field(i)
		if g.Name != f.Name || !arrow.TypeEqual(g.Type, f.Type) {
			return nil, fmt.Errorf("%w: column %d is %s %s, want %s %s", ErrSchema, i, g.Name, g.Type, f.Name, f.Type)
		}
		if rec.Column(i).NullN() != 0 {
			return nil, fmt.Errorf("%w: column %s holds nulls", ErrSchema, f.Name)
		}
	}
	v := &View{rec: rec}
	v.bind()
	return v, nil
}

func (v *View) bind() {
	c := v.rec.Column
	v.role, v.rollout, v.env = c(0).(*array.String), c(1).(*array.String), c(2).(*array.String)
	v.group, v.arm = c(3).(*array.String), c(4).(*array.String)
	v.iteration, v.version = c(5).(*array.Int32), c(6).(*array.Int64)
	v.step, v.seed = c(7).(*array.Int32), c(8).(*array.Uint64)
	v.messages, v.choices = c(9).(*array.List), c(10).(*array.List)
	v.completion = c(11).(*array.String)
	v.tokens, v.mask, v.logprobs = c(12).(*array.List), c(13).(*array.List), c(14).(*array.List)
	v.reward, v.advantage = c(15).(*array.Float64), c(16).(*array.Float64)
	ms := v.messages.ListValues().(*array.Struct)
	v.msgRole, v.msgContent = ms.Field(0).(*array.String), ms.Field(1).(*array.String)
	v.choiceValues = v.choices.ListValues().(*array.String)
	v.tokenValues = v.tokens.ListValues().(*array.Int32)
	v.maskValues = v.mask.ListValues().(*array.Boolean)
	v.logprobValues = v.logprobs.ListValues().(*array.Float32)
}

// Len is the number of rows.
func (v *View) Len() int { return int(v.rec.NumRows()) }

// Role of row i, without a copy of the rest.
func (v *View) Role(i int) string { return v.role.Value(i) }

// Row copies row i out of the batch. Strings share the record's memory and end with it.
func (v *View) Row(i int) Row {
	r := Row{
		Role: v.role.Value(i), RolloutID: v.rollout.Value(i), EnvID: v.env.Value(i), GroupID: v.group.Value(i),
		Arm: v.arm.Value(i), Iteration: v.iteration.Value(i), PolicyVersion: v.version.Value(i), Step: v.step.Value(i),
		Seed: v.seed.Value(i), Completion: v.completion.Value(i), Reward: v.reward.Value(i), Advantage: v.advantage.Value(i),
	}
	for j, end := v.messages.ValueOffsets(i); j < end; j++ {
		r.Messages = append(r.Messages, Message{Role: v.msgRole.Value(int(j)), Content: v.msgContent.Value(int(j))})
	}
	for j, end := v.choices.ValueOffsets(i); j < end; j++ {
		r.Choices = append(r.Choices, v.choiceValues.Value(int(j)))
	}
	for j, end := v.tokens.ValueOffsets(i); j < end; j++ {
		r.TokenIDs = append(r.TokenIDs, v.tokenValues.Value(int(j)))
	}
	for j, end := v.mask.ValueOffsets(i); j < end; j++ {
		r.LossMask = append(r.LossMask, v.maskValues.Value(int(j)))
	}
	for j, end := v.logprobs.ValueOffsets(i); j < end; j++ {
		r.Logprobs = append(r.Logprobs, v.logprobValues.Value(int(j)))
	}
	return r
}
