// Package agent is the native policy's agent: a linear softmax over the legal actions, on hashed features of what the agent
// sees. It is a small real learner and no language model.
//
// A prompt is parsed into a scene (scene.go), each legal action gets features (relate.go, number.go, lexical.go) in three
// groups that are scaled separately, and the model (model.go) turns them into probabilities and learns from advantages
// (learn.go). A hint is followed by a fixed rule and never learned (hint.go). Begin with Model.
//
// Everything is computed in one fixed order with explicit float64 conversions, so that the same input gives the same bits.
package agent
