package app

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/hidden"
	"github.com/seed256f7767/spade/producers/designer"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/stats"
)

// A source that can be loaded four times and not a fifth time is refused; it does not end the run that it is part of.
func TestASourceThatIsRefusedAfterTheGateIsRejected(t *testing.T) {
	passed := designer.Report{Title: "T", Kind: "game", MaxSteps: 3, Stats: []*spadepb.Stat{{Name: "random_return"}}}
	late := &gym.SourceError{Stage: "load", Fault: gym.Fault{Outcome: gym.Timeout, Error: "too late", Nondeterministic: true}}
	got, err := withHidden(passed, 0, fmt.Errorf("open: %w", late))
	must(t, err)
	if got.Stage != gate.StageDeterministic || got.Reason != "the source is refused when it is loaded again: load: too late" ||
		!got.Nondeterministic || got.Title != "T" {
		t.Errorf("%+v", got)
	}
	late.Fault.Nondeterministic = false
	if got, err := withHidden(passed, 0, late); err != nil || got.Stage == "" || got.Nondeterministic {
		t.Errorf("%+v, %v", got, err)
	}
	if got, err := withHidden(passed, 0, context.Canceled); !errors.Is(err, context.Canceled) || got.Stage != "" {
		t.Errorf("what is not the source's fault: %+v, %v", got, err)
	}
	got, err = withHidden(passed, 0, fmt.Errorf("%w: on 16 seeds", hidden.ErrLate))
	must(t, err)
	if got.Stage != gate.StageRun || !strings.Contains(got.Reason, "too slow") || !got.Nondeterministic || len(got.Stats) != 1 {
		t.Errorf("%+v", got)
	}
	got, err = withHidden(passed, 0.5, nil)
	must(t, err)
	if len(got.Stats) != 2 || got.Stats[0].GetName() != stats.HiddenShare || got.Stats[0].GetValue() != 0.5 || got.Stage != "" {
		t.Errorf("%+v", got)
	}
}
