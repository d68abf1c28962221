package verifyview

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/consumers/verify"
	"github.com/seed256f7767/spade/consumers/warehouse/audit"
)

// document is a verification for scripts.
type document struct {
	OK          bool                 `json:"ok"`
	LogDigest   string               `json:"log_digest,omitempty"`
	Runs        []verify.RunState    `json:"runs"`
	Log         verify.Counts        `json:"log"`
	Tables      []audit.Count        `json:"tables"`
	Keys        int                  `json:"keys"`
	Memory      app.MemoryCounts     `json:"memory"`
	Checkpoints app.CheckpointCounts `json:"checkpoints"`
	Letters     []verify.Letter      `json:"dead_letters"`
	Behind      []string             `json:"behind"`
	Live        bool                 `json:"live"`
	AsIs        bool                 `json:"as_is"`
	Differences []verify.Finding     `json:"differences"`
	Total       int                  `json:"differences_total"`
	Sums        []verify.Sum         `json:"differences_by_kind"`
}

// WriteJSON writes a verification as one object.
func WriteJSON(w io.Writer, r app.Verification) error {
	d := document{
		OK: r.Total == 0 && len(r.Behind) == 0, Runs: list(r.Runs), Log: r.Counts, Tables: list(r.Tables), Keys: r.Keys, Memory: r.Memory, Checkpoints: r.Checkpoints,
		Letters: list(r.Letters), Behind: list(r.Behind), Live: r.Live, AsIs: r.AsIs, Differences: list(r.Differences), Total: r.Total, Sums: list(r.Sums),
	}
	if r.Log != nil {
		d.LogDigest = fmt.Sprintf("%x", r.Log.Sum())
	}
	enc := json.NewEncoder(screen.JSONWriter(w))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(d)
}

// list is never null.
func list[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}
