package repository

import (
	"slices"
	"strings"
	"testing"
)

// rule says what the packages under a folder may import of this module.
type rule struct {
	under  string
	forbid []string // folders
	why    string
}

// rules are the directions that imports flow in: schemas <- internal <- producers, consumers, plugins, analytics <- cmd.
func rules() []rule {
	return []rule{
		{"schemas", []string{"internal", "producers", "consumers", "plugins", "analytics", "cmd"}, "the contract imports nothing of ours"},
		{"internal", []string{"producers", "consumers", "analytics", "cmd"}, "shared code knows none of its users"},
		{"producers", []string{"consumers", "analytics", "cmd"}, "producers and consumers meet in schemas only"},
		{"consumers", []string{"producers", "cmd"}, "producers and consumers meet in schemas only"},
		{"plugins", []string{"producers", "consumers", "analytics", "cmd"}, "a plugin knows the contract and the host only"},
		{"analytics", []string{"producers", "consumers", "plugins", "cmd"}, "analytics reads the warehouse"},
	}
}

func TestImportDirections(t *testing.T) {
	all := packages(t)
	if len(all) < 10 {
		t.Fatalf("only %d packages were found", len(all))
	}
	for _, p := range all {
		for _, r := range rules() {
			if !within(p.path(), r.under) {
				continue
			}
			for _, imported := range p.Imports {
				path, ours := strings.CutPrefix(imported, module+"/")
				if ours && slices.ContainsFunc(r.forbid, func(f string) bool { return within(path, f) }) {
					t.Errorf("%s imports %s: %s", p.path(), path, r.why)
				}
			}
		}
	}
}

// TestSiblingsStayApart: one producer or consumer does not import another; what two need belongs in internal or schemas.
func TestSiblingsStayApart(t *testing.T) {
	for _, p := range packages(t) {
		for _, folder := range []string{"producers", "consumers"} {
			member, ok := memberOf(p.path(), folder)
			if !ok {
				continue
			}
			for _, imported := range p.Imports {
				other, ok := memberOf(strings.TrimPrefix(imported, module+"/"), folder)
				if ok && other != member && strings.HasPrefix(imported, module) {
					t.Errorf("%s imports its sibling %s", p.path(), imported)
				}
			}
		}
	}
}

// TestEachClientLibraryHasOneHome: the program speaks to a service through one package, which knows its traps.
func TestEachClientLibraryHasOneHome(t *testing.T) {
	homes := map[string][]string{
		"github.com/segmentio/kafka-go":      {"internal/bus"},
		"github.com/twmb/franz-go/pkg/kfake": {"internal/embedded/kafka", "internal/bus/bustest"},
		"github.com/qdrant/go-client/qdrant": {"internal/vector", "internal/embedded/qdrant"},
		"github.com/ebitengine/purego":       {"internal/embedded"},
		"github.com/spf13/cobra":             {"cmd"},
		"github.com/hashicorp/go-plugin":     {"plugins"},
	}
	for _, p := range packages(t) {
		for _, imported := range p.Imports {
			allowed, limited := homes[imported]
			if limited && !slices.ContainsFunc(allowed, func(f string) bool { return within(p.path(), f) }) {
				t.Errorf("%s imports %s, which only %v may", p.path(), imported, allowed)
			}
		}
	}
}

// within reports whether a path is a folder or lies in it.
func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

// memberOf is the first path element below a folder.
func memberOf(path, folder string) (string, bool) {
	rest, ok := strings.CutPrefix(path, folder+"/")
	member, _, _ := strings.Cut(rest, "/")
	return member, ok
}
