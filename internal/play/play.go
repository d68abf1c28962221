package play

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Env is a worker with an environment loaded. Both calls take many episodes and answer in the order they were asked. An
// error means that the worker cannot be used any more through no fault of the environment; what the environment does
// wrong is in the answers.
type Env interface {
	Reset(ctx context.Context, resets []wire.Reset) ([]wire.Started, error)
	Step(ctx context.Context, actions []wire.Action) ([]wire.Stepped, error)
}

// Request asks for one episode.
type Request struct {
	EnvSeed uint64
	Hinted  bool
	// Random is where the policy's seeds come from, one a step. It belongs to the episode alone.
	Random *seed.Rand
}

// Config says who plays and how.
type Config struct {
	Policy      policy.Generator
	Version     int64
	Temperature float64
	// MaxSteps is how many steps the environment was accepted with, at least 1. What goes on after them is ended here.
	MaxSteps int
}

// Episode is what came of a request.
type Episode struct {
	Steps                 []*spadepb.Step
	Return                float64
	Verify                *float64
	Outcome, StopReason   string
	Terminated, Truncated bool
	Hint                  string
	FinalObservation      string
	FinalInfo             string
	InitialStateHash      []byte
	FinalStateHash        []byte
	PromptTokens          int
	CompletionTokens      int
	Error                 string
	Nondeterministic      bool
}

// Play plays the requests to their ends and returns their episodes, in order. A request's episode depends on its own
// fields, the environment and the policy version only, not on what is played beside it. An error means that nothing was
// decided: play again in a fresh worker.
func Play(ctx context.Context, env Env, cfg Config, requests []Request) ([]Episode, error) {
	if cfg.MaxSteps < 1 {
		return nil, fmt.Errorf("play episodes of %d steps", cfg.MaxSteps)
	}
	g := &game{env: env, cfg: cfg, episodes: make([]Episode, len(requests))}
	if err := g.reset(ctx, requests); err != nil {
		return nil, err
	}
	for len(g.live) > 0 {
		if err := g.step(ctx); err != nil {
			return nil, err
		}
	}
	return g.episodes, nil
}

// game is a set of episodes that are played side by side.
type game struct {
	env      Env
	cfg      Config
	episodes []Episode
	live     []*player // in the order of their requests
}

// player is an episode that goes on.
type player struct {
	index    int
	random   *seed.Rand
	messages []policy.Message
	last     seen
}

// seen is what the agent sees before an action.
type seen struct {
	observation, info string
	actions           []string
}

func (g *game) reset(ctx context.Context, requests []Request) error {
	resets := make([]wire.Reset, len(requests))
	for i, r := range requests {
		resets[i] = wire.Reset{Episode: i, Seed: r.EnvSeed, WantHint: r.Hinted}
	}
	started, err := g.env.Reset(ctx, resets)
	if err != nil {
		return fmt.Errorf("reset episodes: %w", err)
	}
	if len(started) != len(requests) {
		return fmt.Errorf("reset episodes: %d answers to %d", len(started), len(requests))
	}
	for i, s := range started {
		e := &g.episodes[i]
		e.Hint = s.Hint
		e.FinalObservation, e.FinalInfo = s.Observation, s.Info
		e.InitialStateHash = unhex(s.StateHash)
		e.FinalStateHash = e.InitialStateHash
		if s.Outcome != wire.Ongoing {
			e.end(s.Fault)
			continue
		}
		g.live = append(g.live, &player{
			index:    i,
			random:   requests[i].Random,
			messages: policy.Conversation(s.Observation, s.Hint),
			last:     seen{s.Observation, s.Info, s.Actions},
		})
	}
	return nil
}

// step has the policy act once in every live episode.
func (g *game) step(ctx context.Context) error {
	completions, err := g.generate(ctx)
	if err != nil {
		return err
	}
	actions := make([]wire.Action, len(g.live))
	for i, p := range g.live {
		actions[i] = wire.Action{Episode: p.index, Text: completions[i].Text}
	}
	answers, err := g.env.Step(ctx, actions)
	if err != nil {
		return fmt.Errorf("step episodes: %w", err)
	}
	if len(answers) != len(actions) {
		return fmt.Errorf("step episodes: %d answers to %d", len(answers), len(actions))
	}
	live := g.live[:0]
	for i, p := range g.live {
		if g.take(p, completions[i], answers[i]) {
			live = append(live, p)
		}
	}
	g.live = live
	return nil
}

func (g *game) generate(ctx context.Context) ([]policy.Completion, error) {
	prompts := make([]policy.Prompt, len(g.live))
	for i, p := range g.live {
		prompts[i] = policy.Prompt{
			ID:       strconv.Itoa(p.index),
			Messages: p.messages,
			Seed:     p.random.Uint64(),
			Choices:  p.last.actions,
			Sampling: policy.Sampling{Temperature: g.cfg.Temperature},
		}
	}
	completions, err := g.cfg.Policy.Generate(ctx, policy.Agent, g.cfg.Version, prompts)
	if err != nil {
		return nil, fmt.Errorf("generate actions: %w", err)
	}
	if len(completions) != len(prompts) {
		return nil, fmt.Errorf("generate actions: %d completions for %d prompts", len(completions), len(prompts))
	}
	return completions, nil
}

// take adds one exchange to an episode and reports whether it goes on.
func (g *game) take(p *player, c policy.Completion, answer wire.Stepped) bool {
	e := &g.episodes[p.index]
	e.PromptTokens += c.PromptTokens
	e.CompletionTokens += c.CompletionTokens
	e.Steps = append(e.Steps, &spadepb.Step{
		Observation: p.last.observation,
		InfoJson:    p.last.info,
		Action:      c.Text,
		ToolName:    toolName(c.Text),
		Reward:      answer.Reward,
		Terminated:  answer.Terminated,
		Truncated:   answer.Truncated,
		Logprob:     sum(c.Logprobs),
		StateHash:   unhex(answer.StateHash),
		TokenIds:    c.TokenIDs,
		Logprobs:    c.Logprobs,
	})
	e.Return = answer.Return
	e.FinalObservation, e.FinalInfo = answer.Observation, answer.Info
	if h := unhex(answer.StateHash); h != nil {
		e.FinalStateHash = h
	}
	e.Nondeterministic = e.Nondeterministic || answer.Nondeterministic
	if answer.Outcome == wire.Ongoing && len(e.Steps) >= g.cfg.MaxSteps {
		answer.Fault = wire.Fault{
			Outcome: wire.EnvError, Cause: wire.CauseProtocol, Error: fmt.Sprintf("the episode goes on after %d steps", g.cfg.MaxSteps),
		}
	}
	if answer.Outcome != wire.Ongoing {
		e.Verify = answer.Verify
		e.Terminated, e.Truncated = answer.Terminated, answer.Truncated
		e.end(answer.Fault)
		return false
	}
	p.messages = policy.Extend(p.messages, c.Text, answer.Observation)
	p.last = seen{answer.Observation, answer.Info, answer.Actions}
	return true
}

// end records how an episode ended.
func (e *Episode) end(f wire.Fault) {
	e.Outcome, e.Error = string(f.Outcome), f.Error
	switch {
	case f.Cause != wire.CauseNone:
		e.StopReason = string(f.Cause)
	case e.Terminated:
		e.StopReason = "terminated"
	case e.Truncated:
		e.StopReason = "truncated"
	default:
		e.StopReason = e.Outcome
	}
}

// toolName is the tool that an action calls: the "name" or "tool" of a JSON object; empty for any other text.
func toolName(action string) string {
	if len(action) == 0 || action[0] != '{' {
		return ""
	}
	var call struct{ Name, Tool string }
	if json.Unmarshal([]byte(action), &call) != nil {
		return ""
	}
	if call.Name != "" {
		return call.Name
	}
	return call.Tool
}

func sum(logprobs []float32) float64 {
	var total float64
	for _, l := range logprobs {
		total += float64(l)
	}
	return total
}

func unhex(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil || len(b) == 0 {
		return nil
	}
	return b
}
