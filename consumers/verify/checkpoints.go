package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Store is where checkpoints lie that are not in the log.
type Store interface {
	// Load reads the state of that SHA-256 and size and checks it.
	Load(ctx context.Context, sum []byte, size int64) ([]byte, error)
}

// Checkpoints is the check of the states that PolicyUpdated events name.
type Checkpoints struct {
	Only   uuid.UUID
	Store  Store // nil: there is none
	Report *Report

	Inline, Stored int64 // states that were looked at
	Bytes          int64
}

var _ Check = (*Checkpoints)(nil)

// Add implements Check.
func (c *Checkpoints) Add(ctx context.Context, e *Entry) error {
	m, ok := message[*spadepb.PolicyUpdated](e)
	if !ok || !e.First || (c.Only != uuid.Nil && !topics.OfRun(e.Key, c.Only)) || len(m.GetRunId()) != 16 {
		return nil
	}
	ck := m.GetCheckpoint()
	subject := ids.Policy(uuid.UUID(m.GetRunId()), m.GetPolicyFrom()).String()
	where := fmt.Sprintf("version %d (%s)", m.GetPolicyTo(), short(ck.GetSha256()))
	if len(ck.GetInline()) > 0 || ck.GetBytes() == 0 {
		c.inline(subject, where, ck)
		return nil
	}
	c.Stored++
	if c.Store == nil {
		c.Report.Add(AreaCheckpoints, "missing", subject, "%s of %d bytes is not in the log, and SPADE_CHECKPOINTS is not set", where, ck.GetBytes())
		return nil
	}
	state, err := c.Store.Load(ctx, ck.GetSha256(), ck.GetBytes())
	if err != nil {
		if ctx.Err() != nil {
			return err
		}
		c.Report.Add(AreaCheckpoints, "missing or corrupt", subject, "%s: %v", where, err)
		return nil
	}
	c.Bytes += int64(len(state))
	return nil
}

func (c *Checkpoints) inline(subject, where string, ck *spadepb.Checkpoint) {
	c.Inline++
	c.Bytes += int64(len(ck.GetInline()))
	sum := sha256.Sum256(ck.GetInline())
	if hex.EncodeToString(sum[:]) != hex.EncodeToString(ck.GetSha256()) {
		c.Report.Add(AreaCheckpoints, "corrupt", subject, "%s in the log has the SHA-256 %s", where, short(sum[:]))
	}
	if int64(len(ck.GetInline())) != ck.GetBytes() {
		c.Report.Add(AreaCheckpoints, "wrong size", subject, "%s in the log has %d bytes, and says %d", where, len(ck.GetInline()), ck.GetBytes())
	}
}

// Partition implements Check.
func (c *Checkpoints) Partition(context.Context) error { return nil }

func short(sum []byte) string { return hex.EncodeToString(sum[:min(8, len(sum))]) }
