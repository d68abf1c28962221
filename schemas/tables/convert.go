package tables

import (
	"fmt"

	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// convert appends the rows of an event to the tables it belongs in.
func (s *Set) convert(ev *event.Event, msg proto.Message) error {
	switch m := msg.(type) {
	case *spadepb.RunStarted:
		return s.runStarted(ev, m)
	case *spadepb.RunResumed:
		return s.runResumed(ev, m)
	case *spadepb.RunFinished:
		return s.runFinished(ev, m)
	case *spadepb.IterationClosed:
		return s.iterationClosed(ev, m)
	case *spadepb.DocumentIngested:
		return s.documentIngested(ev, m)
	case *spadepb.DocumentWithdrawn:
		return s.documentWithdrawn(ev, m)
	case *spadepb.EmbeddingComputed:
		return s.embeddingComputed(ev, m)
	case *spadepb.DesignRequested:
		return s.designRequested(ev, m)
	case *spadepb.EnvironmentDesigned:
		return s.environmentDesigned(ev, m)
	case *spadepb.EnvironmentAccepted:
		return s.environmentAccepted(ev, m)
	case *spadepb.EnvironmentRejected:
		return s.environmentRejected(ev, m)
	}
	return s.convertPlay(ev, msg)
}

// convertPlay is convert for what follows an accepted environment.
func (s *Set) convertPlay(ev *event.Event, msg proto.Message) error {
	switch m := msg.(type) {
	case *spadepb.RolloutCompleted:
		return s.rolloutCompleted(ev, m)
	case *spadepb.RolloutDropped:
		return s.rolloutDropped(ev, m)
	case *spadepb.RegretEstimated:
		return s.regretEstimated(ev, m)
	case *spadepb.RegretUnavailable:
		return s.regretUnavailable(ev, m)
	case *spadepb.DesignerRewarded:
		return s.designerRewarded(ev, m)
	case *spadepb.BatchBuilt:
		return s.batchBuilt(ev, m)
	case *spadepb.PolicyUpdated:
		return s.policyUpdated(ev, m)
	case *spadepb.EvaluationCompleted:
		return s.evaluationCompleted(ev, m)
	case *spadepb.ReplayChecked:
		return s.replayChecked(ev, m)
	case *spadepb.DeadLetter:
		return s.deadLetter(ev, m)
	}
	return fmt.Errorf("message %T: %w", msg, event.ErrUnknownType)
}
