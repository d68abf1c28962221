// Package evaluator plays held-out environments with a policy version and appends one event per episode. Begin with
// Evaluator.Evaluate.
package evaluator
