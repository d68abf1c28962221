package sdk

import (
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

func promptsFrom(in []*pluginpb.Prompt) []policy.Prompt {
	out := make([]policy.Prompt, len(in))
	for i, p := range in {
		out[i] = policy.Prompt{ID: p.Id, Seed: p.Seed, Choices: p.Choices, Messages: make([]policy.Message, len(p.Messages))}
		for j, m := range p.Messages {
			out[i].Messages[j] = policy.Message{Role: m.Role, Content: m.Content}
		}
		out[i].Sampling = policy.Sampling{
			Temperature: p.Sampling.GetTemperature(), TopP: p.Sampling.GetTopP(), MaxTokens: int(p.Sampling.GetMaxTokens()),
		}
	}
	return out
}

func completionsTo(in []policy.Completion) *pluginpb.Completions {
	out := &pluginpb.Completions{Items: make([]*pluginpb.Completion, len(in))}
	for i, c := range in {
		out.Items[i] = &pluginpb.Completion{
			Id: c.ID, Text: c.Text, TokenIds: c.TokenIDs, Logprobs: c.Logprobs, StopReason: c.StopReason,
			PromptTokens: int32(c.PromptTokens), CompletionTokens: int32(c.CompletionTokens),
		}
	}
	return out
}

func checkpointTo(c plugins.Checkpoint) *pluginpb.Checkpoint {
	return &pluginpb.Checkpoint{Sha256: c.SHA256, Bytes: uint64(c.Bytes), Format: c.Format, Location: c.Location}
}

func checkpointFrom(c *pluginpb.Checkpoint, data []byte) (*plugins.Checkpoint, error) {
	if c == nil {
		return nil, nil
	}
	ck := &plugins.Checkpoint{SHA256: c.Sha256, Bytes: int64(c.Bytes), Format: c.Format, Location: c.Location, Data: data}
	if c.Location != "" {
		ck.Data = nil
		return ck, nil
	}
	return ck, ck.Verify()
}

func summaryTo(r plugins.Result) *pluginpb.TrainSummary {
	s := &pluginpb.TrainSummary{Version: r.Version, Rows: uint64(r.Rows), Roles: r.Roles, Checkpoint: checkpointTo(r.Checkpoint)}
	for _, m := range r.Metrics {
		s.Metrics = append(s.Metrics, &pluginpb.Metric{Name: m.Name, Value: m.Value})
	}
	return s
}
