package repository

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// named are the things in backquotes or links that can be paths of this repository.
var (
	quoted = regexp.MustCompile("`([^`\n]+)`")
	linked = regexp.MustCompile(`\]\(([^)#\s]+)[^)]*\)`)
	isPath = regexp.MustCompile(`^\.?[A-Za-z0-9_.-]+(/[A-Za-z0-9_.*-]+)+/?$`)
)

// TestDocumentationNamesOnlyWhatIsThere checks every path in the README and docs whose first element is a folder of the
// repository, and every relative link.
func TestDocumentationNamesOnlyWhatIsThere(t *testing.T) {
	folders := map[string]bool{}
	for _, name := range tracked(t) {
		first, _, deeper := strings.Cut(filepath.ToSlash(name), "/")
		folders[first] = folders[first] || deeper
	}
	for _, name := range tracked(t, "*.md", "NOTICE") {
		body, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted and not yet committed
		}
		if strings.HasPrefix(filepath.ToSlash(name), "examples/corpus/") {
			continue // documents that are data
		}
		for _, m := range quoted.FindAllStringSubmatch(string(body), -1) {
			path := strings.TrimPrefix(m[1], "./")
			first, _, _ := strings.Cut(path, "/")
			if isPath.MatchString(path) && folders[first] && !present(path) {
				t.Errorf("%s names %s, which is not there", name, path)
			}
		}
		for _, m := range linked.FindAllStringSubmatch(string(body), -1) {
			if target := m[1]; !strings.Contains(target, ":") && !present(filepath.Join(filepath.Dir(name), target)) {
				t.Errorf("%s links to %s, which is not there", name, target)
			}
		}
	}
}

// present reports whether a path, which may hold *, is in the repository. Folders that builds make count.
func present(path string) bool {
	first, _, _ := strings.Cut(filepath.ToSlash(path), "/")
	if first == "bin" || first == ".spade" {
		return true
	}
	found, err := filepath.Glob(filepath.Join(root, path))
	return err == nil && len(found) > 0
}

func TestReadmeIsShort(t *testing.T) {
	body, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	if lines := strings.Count(string(body), "\n"); lines >= 150 {
		t.Errorf("README.md has %d lines, fewer than 150 are wanted", lines)
	}
	for _, command := range []string{"make demo", "make test"} {
		if !strings.Contains(string(body), command) {
			t.Errorf("README.md does not mention %q", command)
		}
	}
}

// TestNothingNamesAMachine: no path of a developer's machine, and no registry by its address.
func TestNothingNamesAMachine(t *testing.T) {
	private := regexp.MustCompile(`/(root|home/[a-z]+|Users/[A-Za-z]+|work/(main|plan|shared))/|proxy\.golang\.org|registry\.npmjs\.org|deb\.debian\.org`)
	for _, name := range tracked(t) {
		if strings.HasSuffix(name, "docs_test.go") || name == "go.sum" || strings.HasPrefix(filepath.ToSlash(name), "examples/corpus/") {
			continue
		}
		body, err := os.ReadFile(filepath.Join(root, name))
		if err != nil || len(body) > 4<<20 {
			continue
		}
		if found := private.Find(body); found != nil {
			t.Errorf("%s names %s", name, found)
		}
	}
}
