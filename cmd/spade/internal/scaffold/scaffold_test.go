package scaffold_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/cmd/spade/internal/scaffold"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/gym/hidden"
)

func TestMain(m *testing.M) { gymtest.Main(m) }

// Every example passes the gate in its runtime on more seeds than the gate plays by itself, needs no fact that its
// observations do not hold, and says what each of its parts is for.
func TestExamplesPassTheGate(t *testing.T) {
	p := gymtest.NewPool(t, gym.Config{MemoryBytes: 256 << 20})
	for _, kind := range scaffold.Kinds() {
		for _, runtime := range gym.Runtimes() {
			for _, form := range scaffold.Forms() {
				code, err := scaffold.Source(kind, runtime, form)
				if runtime == gym.RuntimeStarlark && form == scaffold.FormClass {
					if !errors.Is(err, scaffold.ErrNone) {
						t.Errorf("a class in Starlark: %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				t.Run(kind+" "+runtime+" "+form, func(t *testing.T) { passes(t, p, kind, runtime, string(code)) })
			}
		}
	}
}

func passes(t *testing.T, p *gym.Pool, kind, runtime, code string) {
	opts := gate.Options{RequireSolve: true, Portable: runtime == gym.RuntimeStarlark}
	for seed := range uint64(20) {
		opts.Seeds = append(opts.Seeds, seed)
	}
	src := gym.Source{Runtime: runtime, Code: code}
	r, err := gate.Check(t.Context(), p, src, opts)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Accepted || r.Meta.Kind != kind {
		t.Fatalf("kind %s, refused at %s: %s", r.Meta.Kind, r.Stage, r.Reason)
	}
	if r.Stats.RandomReturn > 0.35 || r.Stats.DistinctStarts < 10 {
		t.Errorf("%+v", r.Stats)
	}
	w, err := p.Open(t.Context(), src)
	if err != nil {
		t.Fatal(err)
	}
	share, err := hidden.Share(t.Context(), w, hidden.Limits{Steps: r.Meta.MaxSteps}, opts.Seeds)
	if err := errors.Join(err, w.Close()); err != nil || share != 0 {
		t.Errorf("%v of the seeds need a fact that no observation holds; %v", share, err)
	}
	for _, part := range []string{"META", "reset", "step", "hint", "verify", "solve"} {
		if !explained(code, part) {
			t.Errorf("%s is not explained", part)
		}
	}
}

// explained says whether a part has a comment above it or a text below it.
func explained(code, part string) bool {
	lines := strings.Split(code, "\n")
	for i, line := range lines {
		at := strings.TrimSpace(line)
		if i == 0 || !strings.HasPrefix(at, "def "+part+"(") && !strings.HasPrefix(at, part+" =") {
			continue
		}
		above := strings.HasPrefix(strings.TrimSpace(lines[i-1]), "#")
		return above || i+1 < len(lines) && strings.Contains(lines[i+1], `"""`)
	}
	return false
}

func TestNothingIsOverwritten(t *testing.T) {
	path := filepath.Join(t.TempDir(), "env.py")
	if err := scaffold.Write(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := scaffold.Write(path, []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("error is %v", err)
	}
	if err := os.Symlink(filepath.Join(t.TempDir(), "elsewhere"), path+".link"); err != nil {
		t.Fatal(err)
	}
	if err := scaffold.Write(path+".link", []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("through a link: %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "one" {
		t.Errorf("%q, %v", got, err)
	}
}
