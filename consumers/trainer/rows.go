package trainer

import (
	"encoding/json"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/training"
)

// appendEpisode appends one row a step: the prompt as the agent had it, the action as it answered.
func appendEpisode(b *training.Builder, e *spadepb.RolloutCompleted, advantage float64) error {
	row := training.Row{
		Role: training.RoleAgent, RolloutID: text(e.GetRolloutId()), EnvID: text(e.GetEnvId()),
		GroupID: text(e.GetGroupId()), Arm: e.GetArm(), Iteration: e.GetIteration(),
		PolicyVersion: e.GetPolicyVersion(), Seed: e.GetEnvSeed(), Reward: e.GetTotalReward(), Advantage: advantage,
	}
	var messages []policy.Message
	for i, step := range e.GetSteps() {
		if i == 0 {
			messages = policy.Conversation(step.GetObservation(), e.GetHint())
		} else {
			messages = policy.Extend(messages, e.GetSteps()[i-1].GetAction(), step.GetObservation())
		}
		row.Step = int32(i)
		row.Messages = row.Messages[:0]
		for _, m := range messages {
			row.Messages = append(row.Messages, training.Message(m))
		}
		row.Choices = choices(step.GetInfoJson())
		row.Completion = step.GetAction()
		row.TokenIDs, row.Logprobs = step.GetTokenIds(), step.GetLogprobs()
		row.LossMask = allTrue(row.LossMask, len(row.TokenIDs))
		if err := b.Append(&row); err != nil {
			return err
		}
	}
	return nil
}

// appendDesign appends one row: the designer's prompt, its source and the exact tokens.
func appendDesign(b *training.Builder, d *spadepb.EnvironmentDesigned, reward, advantage float64) error {
	row := training.Row{
		Role: training.RoleDesigner, EnvID: text(d.GetEnvId()), GroupID: text(d.GetDesignGroup()),
		Iteration: d.GetIteration(), PolicyVersion: d.GetPolicyVersion(), Completion: d.GetCode(),
		TokenIDs: d.GetTokenIds(), Logprobs: d.GetLogprobs(), LossMask: allTrue(nil, len(d.GetTokenIds())),
		Reward: reward, Advantage: advantage,
	}
	for _, m := range d.GetPrompt() {
		row.Messages = append(row.Messages, training.Message{Role: m.GetRole(), Content: m.GetContent()})
	}
	return b.Append(&row)
}

// choices are the legal actions that an observation came with; none when its info does not list them.
func choices(infoJSON string) []string {
	var info struct {
		Actions []string `json:"actions"`
	}
	if json.Unmarshal([]byte(infoJSON), &info) != nil {
		return nil
	}
	return info.Actions
}

func allTrue(mask []bool, n int) []bool {
	mask = mask[:0]
	for range n {
		mask = append(mask, true)
	}
	return mask
}

func text(id []byte) string { return uuid.UUID(id).String() }
