package tables

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// What a neighbour was looked up for.
const (
	usedForRecall = "recall"
	usedForDedup  = "dedup"
)

func (s *Set) designRequested(ev *event.Event, m *spadepb.DesignRequested) error {
	if err := checkIDs(m.GetRunId(), m.GetEnvId()); err != nil {
		return err
	}
	if err := checkOptional(m.GetDesignGroup()); err != nil {
		return err
	}
	b := s.table(DesignRequests)
	b.id(m.GetRunId())
	b.id(m.GetEnvId())
	b.i32(m.GetIteration())
	b.i32(m.GetSlot())
	b.i64(m.GetPolicyVersion())
	b.i64(m.GetMemoryVersion())
	b.optID(m.GetDesignGroup())
	b.i32(m.GetExpectedDesigns())
	b.i32(m.GetExpectedAttempts())
	b.end(ev, s.writer)
	return nil
}

func (s *Set) environmentDesigned(ev *event.Event, m *spadepb.EnvironmentDesigned) error {
	if err := checkDesigned(m); err != nil {
		return err
	}
	prompt, err := promptJSON(m.GetPrompt())
	if err != nil {
		return err
	}
	b := s.table(EnvironmentEvents)
	b.envHead("designed", m)
	b.optID(m.GetDesignGroup())
	b.i64(m.GetPolicyVersion())
	b.str(m.GetRuntime())
	b.str("") // kind
	b.str("") // title
	b.str(m.GetCode())
	b.hex(m.GetCodeSha256())
	documents := b.ids(len(m.GetDocuments()))
	for _, d := range m.GetDocuments() {
		documents.Append(d.GetDocumentId())
	}
	recalled := b.ids(len(m.GetRecalled()))
	for _, n := range m.GetRecalled() {
		recalled.Append(n.GetEnvId())
	}
	b.i64(m.GetMemoryVersion())
	b.str("") // reject_stage
	b.str("") // reject_reason
	b.flag(false)
	b.noNearest()
	b.str("") // embedding_model
	b.hex(m.GetPromptSha256())
	b.raw(prompt)
	b.i32(m.GetPromptTokens())
	b.i32(m.GetCompletionTokens())
	b.str(m.GetStopReason())
	b.str(m.GetModel())
	b.millis(ev.Observed)
	b.str(m.GetPackage())
	b.str(m.GetPackageVersion())
	b.envTail(ev, &spadepb.EnvironmentAccepted{})
	b.pooled(m)
	b.end(ev, s.writer)
	s.documentsOf(ev, m)
	s.neighboursOf(ev, m.GetRunId(), m.GetEnvId(), m.GetRecalled(), usedForRecall, m.GetMemoryVersion())
	return nil
}

func checkDesigned(m *spadepb.EnvironmentDesigned) error {
	if err := checkIDs(m.GetRunId(), m.GetEnvId()); err != nil {
		return err
	}
	for _, d := range m.GetDocuments() {
		if err := checkIDs(d.GetDocumentId()); err != nil {
			return err
		}
	}
	for _, n := range m.GetRecalled() {
		if err := checkIDs(n.GetEnvId()); err != nil {
			return err
		}
	}
	return errors.Join(checkOptional(m.GetDesignGroup()), checkOptional(m.GetPoolEnvId()))
}

func (s *Set) environmentAccepted(ev *event.Event, m *spadepb.EnvironmentAccepted) error {
	if err := checkIDs(m.GetRunId(), m.GetEnvId()); err != nil {
		return err
	}
	for _, n := range m.GetNearest() {
		if err := checkIDs(n.GetEnvId()); err != nil {
			return err
		}
	}
	if err := checkOptional(m.GetNearestEnvId()); err != nil {
		return err
	}
	b := s.table(EnvironmentEvents)
	b.envHead("accepted", m)
	b.noDesign(m.GetPolicyVersion(), m.GetKind(), m.GetTitle())
	b.str("") // reject_stage
	b.str("") // reject_reason
	b.flag(false)
	near := len(m.GetNearestEnvId()) > 0
	b.optF64(m.GetNovelty(), near || m.GetNovelty() != 0)
	b.optID(m.GetNearestEnvId())
	b.optF64(m.GetNearestSimilarity(), near)
	b.str(m.GetEmbeddingModel())
	b.noPrompt()
	b.envTail(ev, m)
	b.pooled(&spadepb.EnvironmentDesigned{})
	b.end(ev, s.writer)
	s.neighboursOf(ev, m.GetRunId(), m.GetEnvId(), m.GetNearest(), usedForDedup, -1)
	return nil
}

func (s *Set) environmentRejected(ev *event.Event, m *spadepb.EnvironmentRejected) error {
	if err := checkIDs(m.GetRunId(), m.GetEnvId()); err != nil {
		return err
	}
	if err := checkOptional(m.GetNearestEnvId()); err != nil {
		return err
	}
	b := s.table(EnvironmentEvents)
	b.envHead("rejected", m)
	b.noDesign(m.GetPolicyVersion(), m.GetKind(), m.GetTitle())
	b.str(m.GetStage())
	b.str(m.GetReason())
	b.flag(m.GetLastAttempt())
	near := len(m.GetNearestEnvId()) > 0
	b.optF64(m.GetNovelty(), near || m.GetNovelty() != 0)
	b.optID(m.GetNearestEnvId())
	b.optF64(m.GetNearestSimilarity(), near)
	b.str("") // embedding_model
	b.noPrompt()
	b.envTail(ev, &spadepb.EnvironmentAccepted{})
	b.pooled(&spadepb.EnvironmentDesigned{})
	b.end(ev, s.writer)
	if near {
		nearest := []*spadepb.Neighbour{{EnvId: m.GetNearestEnvId(), Similarity: m.GetNearestSimilarity()}}
		s.neighboursOf(ev, m.GetRunId(), m.GetEnvId(), nearest, usedForDedup, -1)
	}
	return nil
}

// slotted is what the events of an environment have in common.
type slotted interface {
	GetRunId() []byte
	GetEnvId() []byte
	GetIteration() int32
	GetSlot() int32
	GetAttempt() int32
}

// envHead fills the columns run_id to attempt.
func (b *builder) envHead(what string, m slotted) {
	b.id(m.GetRunId())
	b.id(m.GetEnvId())
	b.str(what)
	b.i32(m.GetIteration())
	b.i32(m.GetSlot())
	b.i32(m.GetAttempt())
}

// noDesign fills the columns design_group to memory_version of an event that is not the design.
func (b *builder) noDesign(version int64, kind, title string) {
	b.null() // design_group
	b.i64(version)
	b.str("")
	b.str(kind)
	b.str(title)
	b.str("") // code
	b.str("")
	b.ids(0)
	b.ids(0)
	b.i64(0)
}

// noNearest fills the columns novelty to nearest_similarity.
func (b *builder) noNearest() {
	b.null()
	b.null()
	b.null()
}

// noPrompt fills the columns prompt_sha256 to package_version of an event that is not the design.
func (b *builder) noPrompt() {
	b.str("")
	b.str("")
	b.i32(0)
	b.i32(0)
	b.str("")
	b.str("")
	b.null() // design_ms
	b.str("")
	b.str("")
}

// envTail fills the columns sandbox_tier to stats.
func (b *builder) envTail(ev *event.Event, m *spadepb.EnvironmentAccepted) {
	b.str(ev.Observed.GetSandboxTier())
	b.str(ev.Observed.GetWorker())
	b.i32(m.GetMaxSteps())
	b.i32(m.GetExpectedPlain())
	b.i32(m.GetExpectedHinted())
	entries(b, m.GetStats())
}

// pooled fills the columns name to pool_env_id.
func (b *builder) pooled(m *spadepb.EnvironmentDesigned) {
	b.str(m.GetName())
	b.optU64(m.GetSeedFrom(), m.GetSeedsBounded())
	b.optU64(m.GetSeedTo(), m.GetSeedsBounded())
	b.optID(m.GetPoolEnvId())
}

func (s *Set) documentsOf(ev *event.Event, m *spadepb.EnvironmentDesigned) {
	b := s.table(EnvironmentDocuments)
	for _, d := range m.GetDocuments() {
		b.id(m.GetRunId())
		b.id(m.GetEnvId())
		b.id(d.GetDocumentId())
		b.i32(d.GetRank())
		b.f64(d.GetScore())
		b.end(ev, s.writer)
	}
}

// neighboursOf adds rows of neighbours; a negative memory version is one that the event does not name.
func (s *Set) neighboursOf(ev *event.Event, run, env []byte, near []*spadepb.Neighbour, use string, memory int64) {
	b := s.table(Neighbours)
	for _, n := range near {
		b.id(run)
		b.id(env)
		b.i32(n.GetRank())
		b.id(n.GetEnvId())
		b.f64(n.GetSimilarity())
		b.optI64(memory, memory >= 0)
		b.str(use)
		b.end(ev, s.writer)
	}
}

// promptJSON writes a prompt as a JSON array of messages.
func promptJSON(messages []*spadepb.ChatMessage) ([]byte, error) {
	type message struct {
		Role    string `json:"role"`
		Content string `json:"content"`
	}
	list := make([]message, 0, len(messages))
	for _, m := range messages {
		list = append(list, message{m.GetRole(), m.GetContent()})
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(list); err != nil {
		return nil, fmt.Errorf("write prompt: %w", err)
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n")), nil
}
