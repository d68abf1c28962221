package trainer

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/native/internal/agent"
	"github.com/seed256f7767/spade/plugins/native/internal/designer"
	"github.com/seed256f7767/spade/plugins/native/internal/grammar"
)

// piece is the number of completions that leave in one message.
const piece = 256

// Generate answers the prompts, in parallel; each answer depends on its prompt alone.
func (t *Trainer) Generate(ctx context.Context, role policy.Role, version int64, prompts []policy.Prompt, emit func([]policy.Completion) error) error {
	s, err := t.get(version)
	if err != nil {
		return err
	}
	answer := s.act
	switch role {
	case policy.Agent:
	case policy.Designer:
		answer = s.design
	default:
		return &plugins.PermanentError{Message: fmt.Sprintf("unknown role %q", role)}
	}
	for len(prompts) > 0 {
		n := min(len(prompts), piece)
		out, err := each(ctx, prompts[:n], answer)
		if err != nil {
			return err
		}
		if err := emit(out); err != nil {
			return err
		}
		prompts = prompts[n:]
	}
	return nil
}

// each answers a piece of prompts on all processors. The answers keep the order of the prompts.
func each(ctx context.Context, prompts []policy.Prompt, answer func(*policy.Prompt) (policy.Completion, error)) ([]policy.Completion, error) {
	out := make([]policy.Completion, len(prompts))
	errs := make([]error, len(prompts))
	workers := min(runtime.GOMAXPROCS(0), len(prompts))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for i := w; i < len(prompts); i += workers {
				if ctx.Err() != nil {
					return
				}
				out[i], errs[i] = safely(&prompts[i], answer)
			}
		})
	}
	wg.Wait()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	for _, err := range errs {
		if err != nil {
			return nil, err // the first in the order of the prompts
		}
	}
	return out, nil
}

// safely makes an error of a panic: it happens outside the call's own goroutine.
func safely(p *policy.Prompt, answer func(*policy.Prompt) (policy.Completion, error)) (c policy.Completion, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = &plugins.PermanentError{Message: fmt.Sprintf("prompt %s: %v", p.ID, r)}
		}
	}()
	return answer(p)
}

// stream is the randomness of one prompt.
func stream(p *policy.Prompt) *seed.Rand {
	return seed.Stream(p.Seed, seed.Key{Purpose: "native.completion"})
}

// act answers as the agent. Without a list of legal actions it can only be silent: it is no language model.
func (s *state) act(p *policy.Prompt) (policy.Completion, error) {
	c := policy.Completion{ID: p.ID, StopReason: "stop", CompletionTokens: 1, PromptTokens: promptTokens(p)}
	if len(p.Choices) == 0 {
		c.TokenIDs, c.Logprobs = []int32{-1}, []float32{0}
		return c, nil
	}
	i, logprob := s.agent.Choose(messages(p), p.Choices, p.Sampling.Temperature, stream(p).Float64())
	c.Text, c.TokenIDs, c.Logprobs = p.Choices[i], []int32{int32(i)}, []float32{float32(logprob)}
	return c, nil
}

func messages(p *policy.Prompt) []agent.Message {
	out := make([]agent.Message, len(p.Messages))
	for i, m := range p.Messages {
		out[i] = agent.Message{Role: m.Role, Content: m.Content}
	}
	return out
}

func promptTokens(p *policy.Prompt) int {
	n := 0
	for _, m := range p.Messages {
		n += countWords(m.Content)
	}
	return n
}

// countWords counts runs of bytes above the space, which strings.Fields would also gather.
func countWords(s string) int {
	n := 0
	inside := false
	for i := range len(s) {
		word := s[i] > ' '
		if word && !inside {
			n++
		}
		inside = word
	}
	return n
}

// design answers as the designer: a whole source.
func (s *state) design(p *policy.Prompt) (policy.Completion, error) {
	contents := make([]string, len(p.Messages))
	for i, m := range p.Messages {
		contents[i] = m.Content
	}
	d, tokens, logprobs := s.designer.Draw(stream(p))
	return policy.Completion{
		ID: p.ID, Text: grammar.Compose(d, designer.Documents(contents)), TokenIDs: tokens, Logprobs: logprobs,
		StopReason: "stop", PromptTokens: promptTokens(p), CompletionTokens: len(tokens),
	}, nil
}
