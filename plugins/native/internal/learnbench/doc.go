// Package learnbench runs the native policy's whole loop (design, play, train, evaluate on the held-out suites) in one
// process, without a log, a sandbox or a wire. It is how the policy is tuned and how its figures are made: see
// TestLearns and the command in plugins/native/learnbench.
//
// It plays only sources that the native designer wrote or that lie in examples/suites, so it may do without the sandbox;
// nothing else may.
package learnbench
