package play

import (
	"context"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/schemas/outcome"
)

// endless is an environment whose episodes never end.
type endless struct{}

func (endless) Reset(_ context.Context, resets []wire.Reset) ([]wire.Started, error) {
	out := make([]wire.Started, len(resets))
	for i, r := range resets {
		out[i].Episode = r.Episode
	}
	return out, nil
}

func (endless) Step(_ context.Context, actions []wire.Action) ([]wire.Stepped, error) {
	out := make([]wire.Stepped, len(actions))
	for i, a := range actions {
		out[i].Episode = a.Episode
	}
	return out, nil
}

// silent says nothing.
type silent struct{}

func (silent) Generate(_ context.Context, _ policy.Role, _ int64, prompts []policy.Prompt) ([]policy.Completion, error) {
	return make([]policy.Completion, len(prompts)), nil
}

func TestEpisodesEndAtTheAcceptedSteps(t *testing.T) {
	requests := []Request{{Random: seed.Stream(1, seed.Key{})}, {Random: seed.Stream(2, seed.Key{})}}
	episodes, err := Play(t.Context(), endless{}, Config{Policy: silent{}, MaxSteps: 7}, requests)
	if err != nil {
		t.Fatal(err)
	}
	for i, e := range episodes {
		if len(e.Steps) != 7 || e.Outcome != outcome.EnvError || e.StopReason != string(wire.CauseProtocol) || e.Error == "" {
			t.Errorf("episode %d: %d steps, outcome %q, stopped by %q, error %q", i, len(e.Steps), e.Outcome, e.StopReason, e.Error)
		}
	}
	if _, err := Play(t.Context(), endless{}, Config{Policy: silent{}}, requests); err == nil {
		t.Error("episodes of no steps are played")
	}
}
