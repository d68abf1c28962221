package tracing

import (
	"strings"
	"time"

	"github.com/google/uuid"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Span is one event in the trace of one environment.
type Span struct {
	Name       string
	Trace      trace.TraceID
	ID         trace.SpanID
	Parent     trace.SpanID        // zero: the root
	Links      []trace.SpanContext // to what else it came of
	Start, End time.Time
	Attributes []attribute.KeyValue
}

// TraceOf is the trace of an environment.
func TraceOf(env uuid.UUID) trace.TraceID { return trace.TraceID(env) }

// SpanOf is the span of an event.
func SpanOf(id uuid.UUID) trace.SpanID { return trace.SpanID(id[:8]) }

// mapper turns events into spans. It remembers the environments of the last batches, because an update names batches only.
// It is used by one goroutine.
type mapper struct {
	batches map[uuid.UUID][]member
	order   []uuid.UUID
}

// member is an environment of a batch.
type member struct {
	env    uuid.UUID
	parent trace.SpanID // the batch's span
}

// keptBatches is how many batches are remembered: those of the updates that may be on their way.
const keptBatches = 64

func newMapper() *mapper { return &mapper{batches: map[uuid.UUID][]member{}} }

// spanned are the types of the events that may have spans. No other is decoded, nor takes room in the queue.
var spanned = func() map[string]bool {
	all := map[string]bool{}
	for _, msg := range []proto.Message{
		(*spadepb.DesignRequested)(nil), (*spadepb.EnvironmentDesigned)(nil), (*spadepb.EnvironmentAccepted)(nil),
		(*spadepb.EnvironmentRejected)(nil), (*spadepb.RolloutCompleted)(nil), (*spadepb.RolloutDropped)(nil),
		(*spadepb.RegretEstimated)(nil), (*spadepb.RegretUnavailable)(nil), (*spadepb.DesignerRewarded)(nil),
		(*spadepb.BatchBuilt)(nil), (*spadepb.PolicyUpdated)(nil),
	} {
		all[event.TypeOf(msg)] = true
	}
	return all
}()

// spans are those of one event, none for events that are of no environment and those that cannot be decoded.
func (m *mapper) spans(ev event.Event) []Span {
	msg, err := ev.Message()
	if err != nil {
		return nil
	}
	switch msg := msg.(type) {
	case *spadepb.BatchBuilt:
		return m.batch(ev, msg)
	case *spadepb.PolicyUpdated:
		return m.update(ev, msg)
	}
	of, ok := msg.(interface {
		GetEnvId() []byte
		GetRunId() []byte
	})
	if !ok {
		return nil
	}
	env, err := uuid.FromBytes(of.GetEnvId())
	if err != nil {
		return nil
	}
	s := newSpan(ev, env)
	s.Attributes = append(s.Attributes, attribute.String("spade.run_id", idText(of.GetRunId())))
	if !s.describe(env, msg) {
		return nil
	}
	return []Span{s}
}

func newSpan(ev event.Event, env uuid.UUID) Span {
	s := Span{Name: name(ev.Type), Trace: TraceOf(env), ID: SpanOf(ev.ID), Start: ev.Time, End: ev.Time}
	if o := ev.Observed; o.GetStartedAt() != nil && o.GetFinishedAt() != nil {
		s.Start, s.End = o.GetStartedAt().AsTime(), o.GetFinishedAt().AsTime()
	}
	s.Attributes = []attribute.KeyValue{
		attribute.String("spade.env_id", env.String()),
		attribute.String("spade.event_id", ev.ID.String()),
		attribute.String("spade.worker", ev.Observed.GetWorker()),
	}
	return s
}

// name is an event's type without the package, as EnvironmentDesigned.
func name(ceType string) string { return ceType[strings.LastIndexByte(ceType, '.')+1:] }

// describe fills in the parent and what may be told: ids, numbers and words of the program's own. What environments and
// models wrote is in the log, not here.
func (s *Span) describe(env uuid.UUID, msg proto.Message) bool {
	switch m := msg.(type) {
	case *spadepb.DesignRequested:
		s.slot(m.GetIteration(), m.GetSlot())
		s.version(m.GetPolicyVersion())
	case *spadepb.EnvironmentDesigned:
		s.slot(m.GetIteration(), m.GetSlot())
		s.version(m.GetPolicyVersion())
		s.number("spade.attempt", int64(m.GetAttempt()))
		s.number("spade.prompt_tokens", int64(m.GetPromptTokens()))
		s.number("spade.completion_tokens", int64(m.GetCompletionTokens()))
		s.requested(m)
	case *spadepb.EnvironmentAccepted:
		s.slot(m.GetIteration(), m.GetSlot())
		s.parent(env, (*spadepb.EnvironmentDesigned)(nil))
		s.real("spade.novelty", m.GetNovelty())
	case *spadepb.EnvironmentRejected:
		s.slot(m.GetIteration(), m.GetSlot())
		s.parent(env, (*spadepb.EnvironmentDesigned)(nil))
		s.word("spade.stage", m.GetStage())
	case *spadepb.RolloutCompleted:
		s.parent(env, (*spadepb.EnvironmentAccepted)(nil))
		s.episode(m)
		s.version(m.GetPolicyVersion())
		s.word("spade.outcome", m.GetOutcome())
		s.number("spade.steps", int64(len(m.GetSteps())))
		s.real("spade.reward", m.GetTotalReward())
	case *spadepb.RolloutDropped:
		s.parent(env, (*spadepb.EnvironmentAccepted)(nil))
		s.episode(m)
	case *spadepb.RegretEstimated:
		s.parent(env, (*spadepb.EnvironmentAccepted)(nil))
		s.real("spade.reward_plain", m.GetRewardPlain())
		s.real("spade.reward_hinted", m.GetRewardHinted())
	case *spadepb.RegretUnavailable:
		s.parent(env, (*spadepb.EnvironmentAccepted)(nil))
	case *spadepb.DesignerRewarded:
		s.slot(m.GetIteration(), m.GetSlot())
		s.parent(env, (*spadepb.EnvironmentDesigned)(nil))
		if m.GetMeasured() {
			s.parent(env, (*spadepb.RegretEstimated)(nil))
		}
		s.real("spade.reward", m.GetReward())
	default:
		return false
	}
	return true
}

// requested makes the request the parent of a design. That of a repair has a trace of its own, which links to the request.
func (s *Span) requested(m *spadepb.EnvironmentDesigned) {
	run, err := uuid.FromBytes(m.GetRunId())
	if err != nil || m.GetPoolEnvId() == nil && m.GetDesignGroup() == nil {
		return // an import: nobody requested it
	}
	first := ids.Env(run, int(m.GetIteration()), int(m.GetSlot()), 0)
	request := SpanOf(ids.Event(event.TypeOf((*spadepb.DesignRequested)(nil)), first, 0))
	if m.GetAttempt() == 0 {
		s.Parent = request
		return
	}
	s.Links = append(s.Links, spanContext(TraceOf(first), request))
}

func (s *Span) parent(env uuid.UUID, of proto.Message) {
	s.Parent = SpanOf(ids.Event(event.TypeOf(of), env, 0))
}

// batch is a span in the trace of every environment that a batch is of. The designer's follows the pay, the agent's the gate.
func (m *mapper) batch(ev event.Event, msg *spadepb.BatchBuilt) []Span {
	var of proto.Message = (*spadepb.EnvironmentAccepted)(nil)
	if msg.GetRole() == "designer" {
		of = (*spadepb.DesignerRewarded)(nil)
	}
	var out []Span
	var members []member
	seen := map[uuid.UUID]bool{}
	for _, a := range msg.GetAdvantages() {
		env, err := uuid.FromBytes(a.GetEnvId())
		if err != nil || seen[env] {
			continue
		}
		seen[env] = true
		s := newSpan(ev, env)
		s.parent(env, of)
		s.Attributes = append(s.Attributes, attribute.String("spade.run_id", idText(msg.GetRunId())))
		s.word("spade.role", msg.GetRole())
		s.version(msg.GetPolicyVersion())
		s.number("spade.iteration", int64(msg.GetIteration()))
		out = append(out, s)
		members = append(members, member{env, s.ID})
	}
	m.remember(msg.GetBatchId(), members)
	return out
}

func (m *mapper) remember(batch []byte, members []member) {
	id, err := uuid.FromBytes(batch)
	if err != nil {
		return
	}
	if _, known := m.batches[id]; !known {
		m.order = append(m.order, id)
	}
	m.batches[id] = members
	for len(m.order) > keptBatches {
		delete(m.batches, m.order[0])
		m.order = m.order[1:]
	}
}

// update is a span in the trace of every environment that its batches are of. An environment of both batches has the first
// one's span as the parent and a link to the other's.
func (m *mapper) update(ev event.Event, msg *spadepb.PolicyUpdated) []Span {
	var out []Span
	at := map[uuid.UUID]int{}
	for _, raw := range msg.GetBatchIds() {
		id, err := uuid.FromBytes(raw)
		if err != nil {
			continue
		}
		for _, of := range m.batches[id] {
			if i, known := at[of.env]; known {
				out[i].Links = append(out[i].Links, spanContext(TraceOf(of.env), of.parent))
				continue
			}
			s := newSpan(ev, of.env)
			s.Parent = of.parent
			s.Attributes = append(s.Attributes, attribute.String("spade.run_id", idText(msg.GetRunId())))
			s.number("spade.iteration", int64(msg.GetIteration()))
			s.number("spade.policy_from", msg.GetPolicyFrom())
			s.number("spade.policy_to", msg.GetPolicyTo())
			at[of.env] = len(out)
			out = append(out, s)
		}
	}
	return out
}

func spanContext(t trace.TraceID, s trace.SpanID) trace.SpanContext {
	return trace.NewSpanContext(trace.SpanContextConfig{TraceID: t, SpanID: s, TraceFlags: trace.FlagsSampled, Remote: true})
}

func (s *Span) slot(iteration, slot int32) {
	s.number("spade.iteration", int64(iteration))
	s.number("spade.slot", int64(slot))
}

// episode is what both ends of an episode tell.
func (s *Span) episode(m interface {
	GetArm() string
	GetSeedIndex() int32
	GetRepeat() int32
},
) {
	s.word("spade.arm", m.GetArm())
	s.number("spade.seed_index", int64(m.GetSeedIndex()))
	s.number("spade.repeat", int64(m.GetRepeat()))
}

func (s *Span) version(v int64) { s.number("spade.policy_version", v) }

func (s *Span) number(key string, v int64) {
	s.Attributes = append(s.Attributes, attribute.Int64(key, v))
}

func (s *Span) real(key string, v float64) {
	s.Attributes = append(s.Attributes, attribute.Float64(key, v))
}

// maxWord bounds a word of the program's own, should it be somebody else's after all.
const maxWord = 64

func (s *Span) word(key, v string) {
	if len(v) <= maxWord {
		s.Attributes = append(s.Attributes, attribute.String(key, v))
	}
}

func idText(raw []byte) string {
	id, err := uuid.FromBytes(raw)
	if err != nil {
		return ""
	}
	return id.String()
}
