package app

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// The native designer writes portable sources: whichever runtime plays them, every episode, verdict and evaluation is the
// same, byte for byte, and only the designs say another runtime. A suite's tasks are played in the language they are written
// in.
func TestBothRuntimesPlayAlike(t *testing.T) {
	l := withPython(small(t, plugin(t)))
	l.Run.Name, l.Run.Suites = "runtimes", []string{twoLanguages(t)}
	logs := map[string][]string{}
	for _, runtime := range []string{"starlark", "python"} {
		at := servers(t, t.TempDir())
		l.Run.Runtime = runtime
		play(t, l, at)
		logs[runtime] = payloads(t, l, at, runtime)
	}
	a, b := logs["starlark"], logs["python"]
	if len(a) != len(b) || len(a) < 100 {
		t.Fatalf("%d events and %d", len(a), len(b))
	}
	for i := range a {
		if a[i] != b[i] {
			t.Fatalf("Starlark gives\n%.400q\nPython gives\n%.400q", a[i], b[i])
		}
	}
}

// twoLanguages is the folder of a suite with a task in each language; that in Python is none in Starlark.
func twoLanguages(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"manifest.json": `{"format": 1, "suites": [{"name": "both", "tasks": [
			{"id": "star", "category": "game", "mechanic": "m", "group": "novel", "expressible": false, "file": "a.star"},
			{"id": "python", "category": "game", "mechanic": "m", "group": "novel", "expressible": false, "file": "b.py"}]}]}`,
		"a.star": gymtest.Counting,
		"b.py":   "import math as _only_python_can_import\n" + gymtest.Counting,
	} {
		must(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
	}
	return dir
}

// payloads are a run's events but for what names the runtime: the run's first event, and a design's prompt.
func payloads(t *testing.T, l config.Loaded, at Endpoints, runtime string) []string {
	t.Helper()
	s, err := Open(t.Context(), l, at, slog.New(slog.DiscardHandler))
	must(t, err)
	defer func() { must(t, s.Close(context.WithoutCancel(t.Context()))) }()
	var all []event.Event
	for _, topic := range []string{
		topics.Work, topics.Environments, topics.Rollouts, topics.Regrets, topics.Policies, topics.Evaluations,
	} {
		must(t, s.Bus.Read(t.Context(), topic, nil, nil, func(ev event.Event) error {
			all = append(all, ev)
			return nil
		}))
	}
	slices.SortFunc(all, func(a, b event.Event) int {
		return cmp.Or(cmp.Compare(a.Topic, b.Topic), slices.Compare(a.ID[:], b.ID[:]))
	})
	var out []string
	for _, ev := range all {
		msg, err := ev.Message()
		must(t, err)
		switch m := msg.(type) {
		case *spadepb.EnvironmentDesigned:
			if m.GetRuntime() != runtime {
				t.Errorf("a design for %s in a run of %s", m.GetRuntime(), runtime)
			}
			out = append(out, "designed "+m.GetCode())
		case *spadepb.BatchBuilt, *spadepb.PolicyUpdated:
			// What the plugin trains on holds the prompt.
		default:
			out = append(out, fmt.Sprintf("%s %s %x", ev.Type, ev.ID, ev.Payload))
		}
	}
	return out
}
