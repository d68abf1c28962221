// Package training defines the Arrow batch that a trainer plugin learns from: its schema, a builder that cuts batches by
// bytes, and a view that reads one back.
//
// One row is one decision: an agent's action at one step of one rollout, or one source that a designer wrote. Begin with
// [Schema] for the columns, [NewBuilder] to write and [NewView] to read.
package training
