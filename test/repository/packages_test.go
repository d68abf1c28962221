package repository

import (
	"bufio"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

func TestEveryPackageSaysWhatItIsFor(t *testing.T) {
	for _, p := range packages(t) {
		name := filepath.Base(p.path())
		if len(p.GoFiles) == 0 || strings.HasSuffix(name, "pb") {
			continue // tests only, or generated
		}
		if !strings.HasPrefix(p.Doc, "Package ") && !strings.HasPrefix(p.Doc, "Command ") {
			t.Errorf("%s: the package comment begins %q", p.path(), p.Doc)
		}
		switch name {
		case "util", "utils", "common", "helpers", "base", "misc":
			t.Errorf("%s says nothing by its name", p.path())
		}
	}
}

// maxLines is where a hand-written file must be split.
const maxLines = 900

func TestNoFileIsTooLong(t *testing.T) {
	for _, name := range tracked(t, "*.go", "*.py") {
		lines, generated := measure(t, name)
		if !generated && lines > maxLines {
			t.Errorf("%s has %d lines, at most %d are readable", name, lines, maxLines)
		}
	}
}

func measure(t *testing.T, name string) (lines int, generated bool) {
	t.Helper()
	f, err := os.Open(filepath.Join(root, name))
	if os.IsNotExist(err) {
		return 0, true // deleted and not yet committed
	}
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	scan := bufio.NewScanner(f)
	scan.Buffer(nil, 16<<20)
	for scan.Scan() {
		if lines < 40 && strings.Contains(scan.Text(), "Code generated") {
			generated = true
		}
		lines++
	}
	if err := scan.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return lines, generated
}

// TestOnlyMainEndsTheProcess: everything else returns errors, so that what was started is stopped. A plugin whose host is
// gone has nobody to return them to.
func TestOnlyMainEndsTheProcess(t *testing.T) {
	ends := regexp.MustCompile(`\b(os\.Exit|log\.Fatal\w*)\(`)
	for _, name := range tracked(t, "*.go") {
		forTests := strings.HasSuffix(name, "_test.go") || strings.HasSuffix(filepath.Dir(name), "test")
		orphan := filepath.ToSlash(name) == "plugins/sdk/serve.go"
		if forTests || orphan || filepath.Base(name) == "main.go" {
			continue
		}
		body, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			continue // deleted and not yet committed
		}
		if ends.Match(body) && !strings.Contains(string(body), "\npackage main\n") {
			t.Errorf("%s ends the process", name)
		}
	}
}
