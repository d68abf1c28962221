package host

import (
	"context"
	"errors"
	"strings"

	"github.com/hashicorp/go-plugin"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

var errPluginSide = errors.New("the host has no plugin side")

// clientSide dispenses the generated client.
type clientSide struct{ plugin.NetRPCUnsupportedPlugin }

func (clientSide) GRPCServer(*plugin.GRPCBroker, *grpc.Server) error { return errPluginSide }

func (clientSide) GRPCClient(_ context.Context, _ *plugin.GRPCBroker, conn *grpc.ClientConn) (any, error) {
	return pluginpb.NewTrainerClient(conn), nil
}

// offending returns the line unless it is a handshake.
func offending(line string) string {
	if parts := strings.Split(line, "|"); len(parts) >= 4 {
		return ""
	}
	return line
}

func infoFrom(in *pluginpb.InfoResponse) plugins.Info {
	return plugins.Info{
		Name: in.Name, Version: in.Version, Roles: in.Roles, Device: in.Device, Capabilities: in.Capabilities,
		CheckpointFormat: in.CheckpointFormat,
	}
}

func promptTo(p *policy.Prompt) *pluginpb.Prompt {
	out := &pluginpb.Prompt{Id: p.ID, Seed: p.Seed, Choices: p.Choices, Messages: make([]*pluginpb.ChatMessage, len(p.Messages))}
	for i, m := range p.Messages {
		out.Messages[i] = &pluginpb.ChatMessage{Role: m.Role, Content: m.Content}
	}
	out.Sampling = &pluginpb.Sampling{Temperature: p.Sampling.Temperature, TopP: p.Sampling.TopP, MaxTokens: int32(p.Sampling.MaxTokens)}
	return out
}

func completionFrom(c *pluginpb.Completion) policy.Completion {
	return policy.Completion{
		ID: c.Id, Text: c.Text, TokenIDs: c.TokenIds, Logprobs: c.Logprobs, StopReason: c.StopReason,
		PromptTokens: int(c.PromptTokens), CompletionTokens: int(c.CompletionTokens),
	}
}

func checkpointTo(c *plugins.Checkpoint) *pluginpb.Checkpoint {
	if c == nil {
		return nil
	}
	return &pluginpb.Checkpoint{Sha256: c.SHA256, Bytes: uint64(c.Bytes), Format: c.Format, Location: c.Location}
}

// cutPrompts splits prompts so that no request is larger than about limit bytes.
func cutPrompts(prompts []policy.Prompt, limit int) ([][]*pluginpb.Prompt, error) {
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
