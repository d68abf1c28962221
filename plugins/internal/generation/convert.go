package generation

import (
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

func promptTo(p *policy.Prompt) *pluginpb.Prompt {
	out := &pluginpb.Prompt{Id: p.ID, Seed: p.Seed, Choices: p.Choices, Messages: make([]*pluginpb.ChatMessage, len(p.Messages))}
	for i, m := range p.Messages {
		out.Messages[i] = &pluginpb.ChatMessage{Role: m.Role, Content: m.Content}
	}
	out.Sampling = &pluginpb.Sampling{Temperature: p.Sampling.Temperature, TopP: p.Sampling.TopP, MaxTokens: int32(p.Sampling.MaxTokens)}
	return out
}

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

func completionFrom(c *pluginpb.Completion) policy.Completion {
	return policy.Completion{
		ID: c.Id, Text: c.Text, TokenIDs: c.TokenIds, Logprobs: c.Logprobs, StopReason: c.StopReason,
		PromptTokens: int(c.PromptTokens), CompletionTokens: int(c.CompletionTokens),
	}
}
