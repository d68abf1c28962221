package host

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// generateBytes cuts the prompts of one Generate into requests of about this size.
const generateBytes = 16 << 20

// Generate answers the prompts, in their order. An answer that is missing, repeated or unknown is ErrShortStream.
func (p *Plugin) Generate(ctx context.Context, role policy.Role, version int64, prompts []policy.Prompt) ([]policy.Completion, error) {
	parts, err := cutPrompts(prompts, generateBytes)
	if err != nil {
		return nil, err
	}
	at := make(map[string]int, len(prompts))
	for i := range prompts {
		if _, ok := at[prompts[i].ID]; ok {
			return nil, fmt.Errorf("generate: prompt id %q is given twice", prompts[i].ID)
		}
		at[prompts[i].ID] = i
	}
	g := gather{at: at, out: make([]policy.Completion, len(prompts)), have: make([]bool, len(prompts))}
	for _, part := range parts {
		if err := p.generatePart(ctx, &pluginpb.GenerateRequest{Role: string(role), Version: version, Prompts: part}, &g); err != nil {
			return nil, err
		}
	}
	return g.out, nil
}

func (p *Plugin) generatePart(ctx context.Context, req *pluginpb.GenerateRequest, g *gather) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream when we leave early
	st, err := p.rpc.Generate(ctx, req)
	if err != nil {
		return p.wrap(err)
	}
	before := g.n
	for {
		r, err := st.Recv()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("generate: %w: it stopped before its end mark", ErrShortStream)
		}
		if err != nil {
			return p.wrap(err)
		}
		if end := r.GetEnd(); end != nil {
			if got := g.n - before; end.Count != uint64(got) || got != len(req.Prompts) {
				return fmt.Errorf("generate: %w: %d answers to %d prompts, the end mark counts %d", ErrShortStream, got, len(req.Prompts), end.Count)
			}
			return nil
		}
		for _, c := range r.GetCompletions().GetItems() {
			if err := g.add(c); err != nil {
				return err
			}
		}
	}
}

// gather puts completions where their prompts are.
type gather struct {
	at   map[string]int
	out  []policy.Completion
	have []bool
	n    int
}

func (g *gather) add(c *pluginpb.Completion) error {
	i, ok := g.at[c.Id]
	if !ok || g.have[i] {
		return fmt.Errorf("generate: %w: answer to prompt %q, which is unknown or answered already", ErrShortStream, c.Id)
	}
	if len(c.Logprobs) != 0 && len(c.Logprobs) != len(c.TokenIds) {
		return fmt.Errorf("generate: %w: %d logprobs for %d tokens", ErrShortStream, len(c.Logprobs), len(c.TokenIds))
	}
	g.out[i], g.have[i] = completionFrom(c), true
	g.n++
	return nil
}
