package training

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// Digest is the SHA-256, in hexadecimal, of the batches written as one Arrow IPC stream.
func Digest(recs []arrow.Record) (string, error) {
	h := sha256.New()
	w := ipc.NewWriter(h, ipc.WithSchema(Schema()))
	for _, rec := range recs {
		if err := w.Write(rec); err != nil {
			return "", fmt.Errorf("digest training batch: %w", err)
		}
	}
	if err := w.Close(); err != nil {
		return "", fmt.Errorf("digest training batch: %w", err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
