package qdrant

import (
	"maps"
	"slices"
	"strings"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/engine"
)

// refuse names the parts of a request that are set and not supported. They
// would change the answer, so they are never ignored.
func refuse(set map[string]bool) error {
	var named []string
	for _, what := range slices.Sorted(maps.Keys(set)) {
		if set[what] {
			named = append(named, what)
		}
	}
	if len(named) == 0 {
		return nil
	}
	return &engine.Error{
		Kind: engine.Unsupported,
		Msg:  strings.Join(named, ", ") + ": not supported by the embedded vector server",
	}
}

func isNested(key string) bool { return strings.ContainsAny(key, ".[") }
