package verify

import (
	"context"
	"encoding/hex"
	"maps"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Points is the vector store as the check reads it; *vector.Client is one.
type Points interface {
	Get(ctx context.Context, collection string, ids ...uuid.UUID) ([]vector.Hit, error)
	Scroll(ctx context.Context, collection string, where vector.Condition, fn func(vector.Hit) error) error
}

// MemorySettings is what the check of the memory works with.
type MemorySettings struct {
	Only                    uuid.UUID // run; uuid.Nil: all, and every document
	Environments, Documents string    // collections
	Points                  Points
	// Embedder computes the vectors again; nil when they come from an endpoint: then only their presence is checked.
	Embedder embedding.Embedder
	// Wanted says which documents count; nil: all.
	Wanted func(document uuid.UUID) bool
	// Projected is how far the projection has surely come; records from there on need not have their point yet. Nil: all must.
	Projected Positions
	// Cut is how far the log is read.
	Cut Positions
	// Withdrawn are the documents whose text must be gone; Withdrawals finds them.
	Withdrawn map[uuid.UUID]Place
	Report    *Report
}

// Memory is the check of the vector store. It must be given spade.documents and spade.environments.
type Memory struct {
	MemorySettings
	designs map[uuid.UUID]*spadepb.EnvironmentDesigned // of this partition, not ended
	ended   map[uuid.UUID]bool
	batch   []expected
	known   map[uuid.UUID]bool // points that may be there
	ends    Positions

	Environs, Docs, Gone, Pending, Phantoms int64
}

// expected is a point as it should be.
type expected struct {
	collection string
	point      uuid.UUID
	subject    string
	kind       embedding.Kind
	text       string
	payload    map[string]any
	withdrawn  bool
	pending    bool // it need not be there yet
}

// batchSize is how many points are asked for at once.
const batchSize = 128

// NewMemory makes the check.
func NewMemory(set MemorySettings) *Memory {
	return &Memory{
		MemorySettings: set, known: map[uuid.UUID]bool{},
		designs: map[uuid.UUID]*spadepb.EnvironmentDesigned{}, ended: map[uuid.UUID]bool{},
	}
}

var _ Check = (*Memory)(nil)

// Withdrawals collects the documents that were withdrawn.
type Withdrawals map[uuid.UUID]Place

// Add implements Check.
func (w Withdrawals) Add(_ context.Context, e *Entry) error {
	if m, ok := message[*spadepb.DocumentWithdrawn](e); ok {
		w[uuid.UUID(m.GetDocumentId())] = e.Place()
	}
	return nil
}

// Partition implements Check.
func (w Withdrawals) Partition(context.Context) error { return nil }

// Add implements Check.
func (m *Memory) Add(ctx context.Context, e *Entry) error {
	switch msg := e.Message.(type) {
	case *spadepb.DocumentIngested:
		m.document(e, msg)
	case *spadepb.EnvironmentDesigned:
		m.designed(e, msg)
	case *spadepb.EnvironmentRejected:
		m.end(uuid.UUID(msg.GetEnvId()))
	case *spadepb.EnvironmentAccepted:
		m.accepted(e, msg)
	}
	if len(m.batch) < batchSize {
		return nil
	}
	return m.flush(ctx)
}

// Partition implements Check: an environment's events lie in one partition.
func (m *Memory) Partition(ctx context.Context) error {
	clear(m.designs)
	clear(m.ended)
	return m.flush(ctx)
}

func (m *Memory) pending(e *Entry) bool {
	return m.Projected != nil && e.LastOffset >= m.Projected[e.Topic][e.Partition]
}

func (m *Memory) document(e *Entry, msg *spadepb.DocumentIngested) {
	id := uuid.UUID(msg.GetDocumentId())
	if !e.First || (m.Wanted != nil && !m.Wanted(id)) {
		return
	}
	parent := ""
	if len(msg.GetParentId()) == 16 {
		parent = uuid.UUID(msg.GetParentId()).String()
	}
	want := expected{
		collection: m.Documents, point: ids.Point("document", id), subject: "document " + id.String(), kind: embedding.Document,
		text: msg.GetText(), pending: m.pending(e),
		payload: map[string]any{
			"document_id": id.String(), "parent_id": parent, "chunk": int64(msg.GetChunk()), "chunks": int64(msg.GetChunks()),
			"source": msg.GetSource(), "title": msg.GetTitle(), "text": msg.GetText(), "sha256": hex.EncodeToString(msg.GetSha256()),
			"media_type": msg.GetMediaType(), "withdrawn": false,
		},
	}
	if at, gone := m.Withdrawn[id]; gone {
		want.withdrawn = true
		want.pending = want.pending || (m.Projected != nil && at.Offset >= m.Projected[at.Topic][at.Partition])
		want.payload["withdrawn"] = true
		delete(want.payload, "title")
		delete(want.payload, "text")
	}
	m.expect(want)
}

func (m *Memory) designed(e *Entry, msg *spadepb.EnvironmentDesigned) {
	id := uuid.UUID(msg.GetEnvId())
	if !m.ours(e) || m.ended[id] || m.designs[id] != nil {
		return
	}
	// What a prompt held is not in the point.
	m.designs[id] = &spadepb.EnvironmentDesigned{
		RunId: msg.GetRunId(), EnvId: msg.GetEnvId(), Runtime: msg.GetRuntime(), Code: msg.GetCode(), CodeSha256: msg.GetCodeSha256(),
		PolicyVersion: msg.GetPolicyVersion(),
	}
}

func (m *Memory) ours(e *Entry) bool { return m.Only == uuid.Nil || topics.OfRun(e.Key, m.Only) }

func (m *Memory) end(id uuid.UUID) {
	delete(m.designs, id)
	m.ended[id] = true
}

func (m *Memory) accepted(e *Entry, msg *spadepb.EnvironmentAccepted) {
	id := uuid.UUID(msg.GetEnvId())
	d := m.designs[id]
	if d == nil || m.ended[id] {
		return // one without its design is named by the check of the log
	}
	m.end(id)
	m.expect(expected{
		collection: m.Environments, point: ids.Point("environment", id), subject: "environment " + id.String(), kind: embedding.Code,
		text: d.GetCode(), pending: m.pending(e),
		payload: map[string]any{
			"run_id": uuid.UUID(msg.GetRunId()).String(), "env_id": id.String(), "iteration": int64(msg.GetIteration()),
			"slot": int64(msg.GetSlot()), "attempt": int64(msg.GetAttempt()), "kind": msg.GetKind(), "title": msg.GetTitle(),
			"runtime": d.GetRuntime(), "code_sha256": hex.EncodeToString(d.GetCodeSha256()), "policy_version": d.GetPolicyVersion(),
			"accepted_partition": int64(e.Event.Partition), "accepted_offset": e.Offset,
		},
	})
}

func (m *Memory) expect(want expected) {
	switch {
	case want.collection == m.Environments:
		m.Environs++
	case want.withdrawn:
		m.Gone++
	default:
		m.Docs++
	}
	m.known[want.point] = true
	m.batch = append(m.batch, want)
}

// Finish looks for points that nothing in the log accounts for. ends is how far the log goes by now.
func (m *Memory) Finish(ctx context.Context, ends Positions) error {
	m.ends = ends
	where := vector.Condition{}
	if m.Only != uuid.Nil {
		where = vector.Equal("run_id", m.Only.String()) // documents belong to no run
	}
	if err := m.phantoms(ctx, m.Environments, where, "env_id"); err != nil || m.Only != uuid.Nil {
		return err
	}
	return m.phantoms(ctx, m.Documents, vector.Condition{}, "document_id")
}

func (m *Memory) phantoms(ctx context.Context, collection string, where vector.Condition, key string) error {
	return m.Points.Scroll(ctx, collection, where, func(h vector.Hit) error {
		if m.known[h.ID] || m.young(h) {
			return nil
		}
		m.Phantoms++
		m.Report.Add(AreaMemory, "phantom point", h.ID.String(), "%s %s in %s: nothing in the log makes it", key, quote(h.Payload[key]), collection)
		return nil
	})
}

// young reports whether a point may come from a record behind the cut.
func (m *Memory) young(h vector.Hit) bool {
	if _, document := h.Payload["document_id"]; document {
		// It does not say which record it comes from.
		grown := !maps.Equal(m.ends[topics.Documents], m.Cut[topics.Documents])
		if grown {
			m.Pending++
		}
		return grown
	}
	offset, ok := h.Payload["accepted_offset"].(int64)
	partition, ok2 := h.Payload["accepted_partition"].(int64)
	p := int32(partition)
	return ok && ok2 && offset >= m.Cut[topics.Environments][p] && offset < m.ends[topics.Environments][p]
}
