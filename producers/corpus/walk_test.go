package corpus

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

func TestAddWalks(t *testing.T) {
	outside := tree(t, map[string]string{"secret.md": "Outside."})
	dir := tree(t, map[string]string{
		"b.md":                "B.",
		"a.TXT":               "A.",
		"sub/c.markdown":      "C.",
		"sub/deep/d.htm":      "<p>D.</p>",
		"sub.md":              "Sub.",
		".git/config.md":      "hidden",
		".hidden.md":          "hidden",
		"changelog.gz":        "gz",
		"other.gz":            "gz",
		"copyright":           "none",
		"sub/picture.png":     "png",
		"name. with dots txt": "none",
	})
	for link, target := range map[string]string{
		"link.md": filepath.Join(outside, "secret.md"), "linked": outside, "inner.md": "b.md", "loop": ".",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	log, sum := add(t, dir)
	if want := []string{"a.TXT", "b.md", "sub.md", "sub/c.markdown", "sub/deep/d.htm"}; !slices.Equal(log.sources(), want) {
		t.Errorf("sources %q, want %q", log.sources(), want)
	}
	want := []Skipped{{kindSymlink, 4}, {".gz", 2}, {kindHidden, 2}, {kindNoExt, 2}, {".png", 1}, {kindSpecial, 1}}
	if !slices.Equal(sum.Skipped, want) {
		t.Errorf("skipped %v, want %v", sum.Skipped, want)
	}
	if sum.ProblemCount != 0 {
		t.Errorf("problems %v", sum.Problems)
	}
}

// A folder that is swapped for a link after the listing must not lead out of the root.
func TestOpenStaysInside(t *testing.T) {
	outside := tree(t, map[string]string{"x.md": "Outside."})
	dir := tree(t, map[string]string{"sub/x.md": "Inside."})
	l, err := list(t.Context(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if err := os.RemoveAll(filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, "sub")); err != nil {
		t.Fatal(err)
	}
	if f, _, err := l.files[0].openFile(); err == nil {
		f.Close()
		t.Fatal("opened a file outside the root")
	} else if strings.Contains(err.Error(), dir) {
		t.Errorf("error %q names the machine's path", err)
	}
}

func TestOpenRefusesPipe(t *testing.T) {
	dir := tree(t, map[string]string{"x.md": "File."})
	l, err := list(t.Context(), []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	if err := os.Remove(filepath.Join(dir, "x.md")); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(dir, "x.md"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.files[0].openFile(); err == nil {
		t.Fatal("opened a pipe")
	}
}

func TestAddNamedPaths(t *testing.T) {
	dir := tree(t, map[string]string{"one.md": "One.", "two.md": "Two.", ".hidden/three.md": "Three.", "four.gz": "gz"})
	if err := os.Symlink(filepath.Join(dir, "two.md"), filepath.Join(dir, "alias.md")); err != nil {
		t.Fatal(err)
	}
	log, sum := add(t, filepath.Join(dir, "alias.md"), filepath.Join(dir, ".hidden"), filepath.Join(dir, "one.md"), filepath.Join(dir, "one.md"))
	if want := []string{"one.md", "three.md", "two.md"}; !slices.Equal(log.sources(), want) {
		t.Errorf("sources %q, want %q", log.sources(), want)
	}
	if sum.Files != 4 || sum.Documents != 4 || sum.Added != 3 || sum.Known != 1 {
		t.Errorf("summary %+v", sum)
	}

	_, sum = add(t, filepath.Join(dir, "four.gz"))
	wantProblem(t, sum, ErrUnsupported, "four.gz: format not supported: supported are .md .markdown .txt .html .htm .jsonl .parquet")
	_, sum = add(t, filepath.Join(dir, "missing.md"))
	wantProblem(t, sum, ErrUnreadable, "missing.md: cannot be read: no such file or directory")
	_, sum = add(t, os.DevNull)
	wantProblem(t, sum, ErrUnsupported, "null: format not supported: special file")
}

func TestListCancelled(t *testing.T) {
	dir := tree(t, map[string]string{"one.md": "One."})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := list(ctx, []string{dir}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
}
