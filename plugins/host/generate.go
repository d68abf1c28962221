package host

import (
	"context"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins/internal/generation"
)

// Generate answers the prompts, in their order. An answer that is missing, repeated or unknown is ErrShortStream.
func (p *Plugin) Generate(ctx context.Context, role policy.Role, version int64, prompts []policy.Prompt) ([]policy.Completion, error) {
	return generation.Ask(ctx, p.rpc, p.wrap, role, version, prompts)
}
