package generation

import (
	"context"
	"errors"
	"fmt"
	"io"

	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/internal/wire"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// ErrTooLarge: one prompt alone is larger than a message may be.
var ErrTooLarge = errors.New("prompt too large for the plugin")

// requestBytes cuts the prompts of one Ask into requests of about this size.
const requestBytes = 16 << 20

// Ask has prompts answered, in their order. class gives the errors of a call their class. An answer that is missing, repeated
// or unknown is wire.ErrShort.
func Ask(
	ctx context.Context, rpc pluginpb.TrainerClient, class func(error) error,
	role policy.Role, version int64, prompts []policy.Prompt,
) ([]policy.Completion, error) {
	parts, err := cut(prompts, requestBytes)
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
		req := &pluginpb.GenerateRequest{Role: string(role), Version: version, Prompts: part}
		if err := g.ask(ctx, rpc, class, req); err != nil {
			return nil, err
		}
	}
	return g.out, nil
}

// gather puts completions where their prompts are.
type gather struct {
	at   map[string]int
	out  []policy.Completion
	have []bool
	n    int
}

func (g *gather) ask(
	ctx context.Context, rpc pluginpb.TrainerClient, class func(error) error, req *pluginpb.GenerateRequest,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the stream when we leave early
	st, err := rpc.Generate(ctx, req)
	if err != nil {
		return class(err)
	}
	before := g.n
	for {
		r, err := st.Recv()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("generate: %w: it stopped before its end mark", wire.ErrShort)
		}
		if err != nil {
			return class(err)
		}
		if end := r.GetEnd(); end != nil {
			if got := g.n - before; end.Count != uint64(got) || got != len(req.Prompts) {
				return fmt.Errorf("generate: %w: %d answers to %d prompts, the end mark counts %d", wire.ErrShort, got, len(req.Prompts), end.Count)
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

func (g *gather) add(c *pluginpb.Completion) error {
	i, ok := g.at[c.Id]
	if !ok || g.have[i] {
		return fmt.Errorf("generate: %w: answer to prompt %q, which is unknown or answered already", wire.ErrShort, c.Id)
	}
	if len(c.Logprobs) != 0 && len(c.Logprobs) != len(c.TokenIds) {
		return fmt.Errorf("generate: %w: %d logprobs for %d tokens", wire.ErrShort, len(c.Logprobs), len(c.TokenIds))
	}
	g.out[i], g.have[i] = completionFrom(c), true
	g.n++
	return nil
}

// cut splits prompts so that no request is larger than about limit bytes.
func cut(prompts []policy.Prompt, limit int) ([][]*pluginpb.Prompt, error) {
	var out [][]*pluginpb.Prompt
	var part []*pluginpb.Prompt
	size := 0
	for i := range prompts {
		p := promptTo(&prompts[i])
		n := proto.Size(p)
		if n > plugins.MaxMessageBytes-(1<<20) {
			return nil, errors.Join(ErrTooLarge, &plugins.PermanentError{Message: "prompt " + prompts[i].ID})
		}
		if len(part) > 0 && size+n > limit {
			out = append(out, part)
			part, size = nil, 0
		}
		part = append(part, p)
		size += n
	}
	if len(part) > 0 {
		out = append(out, part)
	}
	return out, nil
}
