package memory

import (
	"encoding/hex"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Kinds of entity, as EmbeddingComputed and point ids name them.
const (
	environmentKind = "environment"
	documentKind    = "document"
)

func environmentPoint(env uuid.UUID) uuid.UUID { return ids.Point(environmentKind, env) }

func documentPoint(document uuid.UUID) uuid.UUID { return ids.Point(documentKind, document) }

func environmentEntry(ev event.Event, d design, ok *spadepb.EnvironmentAccepted) entry {
	env := uuid.UUID(ok.GetEnvId())
	return entry{
		entity: env, run: ok.GetRunId(), kind: embedding.Code, text: d.msg.GetCode(), topic: ev.Topic, offset: d.offset, event: ev,
		payload: map[string]any{
			keyRun: uuid.UUID(ok.GetRunId()).String(), keyEnv: env.String(), keyIteration: ok.GetIteration(), keySlot: ok.GetSlot(),
			"attempt": ok.GetAttempt(), keyKind: ok.GetKind(), "title": ok.GetTitle(), "runtime": d.msg.GetRuntime(),
			"code_sha256": hex.EncodeToString(d.msg.GetCodeSha256()), "policy_version": d.msg.GetPolicyVersion(),
			"accepted_partition": ev.Partition, "accepted_offset": ev.Offset,
		},
	}
}

func documentEntry(ev event.Event, msg *spadepb.DocumentIngested) entry {
	document := uuid.UUID(msg.GetDocumentId())
	parent := ""
	if len(msg.GetParentId()) > 0 {
		parent = uuid.UUID(msg.GetParentId()).String()
	}
	return entry{
		entity: document, kind: embedding.Document, text: msg.GetText(), topic: ev.Topic, offset: ev.Offset, event: ev,
		payload: map[string]any{
			keyDocument: document.String(), "parent_id": parent, "chunk": msg.GetChunk(), "chunks": msg.GetChunks(),
			keySource: msg.GetSource(), "title": msg.GetTitle(), "text": msg.GetText(),
			"sha256": hex.EncodeToString(msg.GetSha256()), "media_type": msg.GetMediaType(), keyWithdrawn: false,
		},
	}
}

// tombstone is what is left of a withdrawn document.
func tombstone(document uuid.UUID, old map[string]any) map[string]any {
	out := map[string]any{keyDocument: document.String(), keyWithdrawn: true}
	for _, key := range []string{"parent_id", "chunk", "chunks", keySource, "sha256", "media_type"} {
		if v, ok := old[key]; ok {
			out[key] = v
		}
	}
	return out
}

// point is where the entry is stored.
func (e entry) point() uuid.UUID {
	if e.kind == embedding.Code {
		return environmentPoint(e.entity)
	}
	return documentPoint(e.entity)
}
