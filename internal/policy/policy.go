// Package policy is what the rest of the program knows of a language model: it generates, in one of two roles, at a
// numbered version. Begin with Generator. Trainer plugins implement it over gRPC (package plugins/host).
package policy

import (
	"context"
	"errors"
)

// Role is the part that the one model plays.
type Role string

// The two roles.
const (
	Agent    Role = "agent"
	Designer Role = "designer"
)

// ErrVersionNotLoaded says that the generator does not hold the version that was asked for.
var ErrVersionNotLoaded = errors.New("policy version not loaded")

// Message is one turn of a conversation.
type Message struct {
	Role    string // "system", "user", "assistant"
	Content string
}

// Sampling says how to draw a completion.
type Sampling struct {
	Temperature float64 // 0 = the most likely
	TopP        float64 // 0 or 1 = all
	MaxTokens   int     // 0 = the policy's own limit
}

// Prompt asks for one completion.
type Prompt struct {
	ID       string // returned with the completion; unique within a call
	Messages []Message
	Seed     uint64   // all randomness of the completion
	Choices  []string // when not empty, the completion's text is one of them
	Sampling Sampling
}

// Completion is the answer to one prompt. TokenIDs are exact and never recomputed from Text; Logprobs is empty or as long
// as TokenIDs.
type Completion struct {
	ID               string
	Text             string
	TokenIDs         []int32
	Logprobs         []float32
	StopReason       string // "stop", "length"
	PromptTokens     int
	CompletionTokens int
}

// Generator answers prompts. It may be called concurrently. The completions are in the order of the prompts, and a
// prompt's completion depends on nothing but the prompt, the role and the version. Errors wrap ErrVersionNotLoaded, the
// context's error, or are the generator's own.
type Generator interface {
	Generate(ctx context.Context, role Role, version int64, prompts []Prompt) ([]Completion, error)
}
