package tables

import (
	"bytes"
	"encoding/json"
	"fmt"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

func (s *Set) runStarted(ev *event.Event, m *spadepb.RunStarted) error {
	if err := checkIDs(m.GetRunId()); err != nil {
		return err
	}
	if err := checkOptional(m.GetParentRunId()); err != nil {
		return err
	}
	config, err := configJSON(m.GetConfig())
	if err != nil {
		return err
	}
	forked := len(m.GetParentRunId()) > 0
	b := s.table(RunEvents)
	b.id(m.GetRunId())
	b.str("started")
	b.str(m.GetName())
	b.str(m.GetKind())
	b.optID(m.GetParentRunId())
	b.optI32(m.GetForkIteration(), forked)
	b.str(m.GetExactness())
	b.optI32(m.GetExactUntil(), forked)
	b.u64(m.GetSeed())
	b.strs(m.GetConfig().GetAblations())
	b.raw(config)
	b.str(ev.Observed.GetDeploymentJson())
	b.str(m.GetArchitecture())
	b.hex(m.GetDocuments().GetSha256())
	b.i64(m.GetDocuments().GetCount())
	b.str(ev.Observed.GetBuild())
	b.null() // iteration
	b.str("running")
	b.runTotals(&spadepb.RunFinished{}, false)
	b.startedAt(ev)
	b.str(ev.Observed.GetSandboxTier())
	b.end(ev, s.writer)
	return nil
}

func (s *Set) runResumed(ev *event.Event, m *spadepb.RunResumed) error {
	if err := checkIDs(m.GetRunId()); err != nil {
		return err
	}
	b := s.table(RunEvents)
	b.id(m.GetRunId())
	b.str("resumed")
	b.noStart()
	b.str(ev.Observed.GetBuild())
	b.i32(m.GetIteration())
	b.str("running")
	b.runTotals(&spadepb.RunFinished{}, false)
	b.null()  // started_at
	b.str("") // sandbox_tier
	b.end(ev, s.writer)
	return nil
}

func (s *Set) runFinished(ev *event.Event, m *spadepb.RunFinished) error {
	if err := checkIDs(m.GetRunId()); err != nil {
		return err
	}
	b := s.table(RunEvents)
	b.id(m.GetRunId())
	b.str("finished")
	b.noStart()
	b.str(ev.Observed.GetBuild())
	b.null() // iteration
	b.str(m.GetStatus())
	b.runTotals(m, true)
	b.null()  // started_at
	b.str("") // sandbox_tier
	b.end(ev, s.writer)
	return nil
}

// noStart fills the columns that only a start has, name to documents_count.
func (b *builder) noStart() {
	b.str("")
	b.str("")
	b.null()
	b.null()
	b.str("")
	b.null()
	b.u64(0)
	b.strs(nil)
	b.str("")
	b.str("")
	b.str("")
	b.str("")
	b.i64(0)
}

// runTotals fills the columns that only a finish has, iterations to error.
func (b *builder) runTotals(m *spadepb.RunFinished, finished bool) {
	b.i32(m.GetIterations())
	b.i64(m.GetDesigned())
	b.i64(m.GetAccepted())
	b.i64(m.GetRejected())
	b.i64(m.GetRollouts())
	b.i64(m.GetSteps())
	b.optF64(m.GetFirstRegret(), finished)
	b.optF64(m.GetLastRegret(), finished)
	b.optF64(m.GetFirstRewardPlain(), finished)
	b.optF64(m.GetLastRewardPlain(), finished)
	b.optI64(m.GetPolicyVersion(), finished)
	b.str(m.GetError())
}

// startedAt is when the work on an event began, or else when the event was made.
func (b *builder) startedAt(ev *event.Event) {
	if t := ev.Observed.GetStartedAt(); t != nil {
		b.time(t.AsTime())
		return
	}
	b.time(ev.Time)
}

// configJSON writes a configuration as JSON, the same bytes for the same configuration: protojson's own spacing is not
// stable.
func configJSON(c *spadepb.SemanticConfig) ([]byte, error) {
	if c == nil {
		return nil, nil
	}
	return compactJSON(c)
}

func compactJSON(m proto.Message) ([]byte, error) {
	text, err := protojson.MarshalOptions{UseProtoNames: true, EmitUnpopulated: true}.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("write JSON: %w: %w", ErrInvalid, err)
	}
	var out bytes.Buffer
	if err := json.Compact(&out, text); err != nil {
		return nil, fmt.Errorf("write JSON: %w", err)
	}
	return out.Bytes(), nil
}

func (s *Set) iterationClosed(ev *event.Event, m *spadepb.IterationClosed) error {
	if err := checkIDs(m.GetRunId()); err != nil {
		return err
	}
	b := s.table(Iterations)
	b.id(m.GetRunId())
	b.i32(m.GetIteration())
	b.i32(m.GetDesigned())
	b.i32(m.GetAccepted())
	b.i32(m.GetRejected())
	b.i32(m.GetRolloutsCompleted())
	b.i32(m.GetRolloutsDropped())
	b.i32(m.GetRegretsEstimated())
	b.i32(m.GetRegretsUnavailable())
	b.i64(m.GetPolicyVersion())
	b.i64(m.GetAcceptedBefore())
	b.i64(m.GetSteps())
	b.f64(m.GetRewardPlain())
	b.f64(m.GetRewardHinted())
	b.f64(m.GetRegret())
	b.f64(m.GetUnlearnableGapShare())
	b.end(ev, s.writer)
	return nil
}
