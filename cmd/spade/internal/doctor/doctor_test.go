package doctor_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/cmd/spade/internal/doctor"
	"github.com/seed256f7767/spade/internal/embedded/chdblib"
	"github.com/seed256f7767/spade/internal/gym/python/pythontest"
)

func check(name string, f doctor.Finding) doctor.Check {
	return doctor.Check{Name: name, Look: func(context.Context) doctor.Finding { return f }}
}

func TestRunWritesLines(t *testing.T) {
	var out bytes.Buffer
	good, err := doctor.Run(t.Context(), []doctor.Check{
		check("one", doctor.Good("all %s", "well")), check("two", doctor.Poor("do this\nor that", "meh\x1b[2J")),
	}, doctor.Output{Out: &out})
	if err != nil || !good {
		t.Fatalf("good %v, %v", good, err)
	}
	const want = "ok    one           all well\nwarn  two           meh\\x1b[2J\n                    → do this\n                      or that\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestAFailureIsReported(t *testing.T) {
	var out bytes.Buffer
	good, err := doctor.Run(t.Context(), []doctor.Check{check("one", doctor.Bad("fix it", "broken\u009b2J"))}, doctor.Output{Out: &out, JSON: true})
	if err != nil || good {
		t.Fatalf("good %v, %v", good, err)
	}
	var found []doctor.Finding
	if err := json.Unmarshal(out.Bytes(), &found); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || found[0] != (doctor.Finding{Check: "one", Status: doctor.Fail, Detail: "broken\u009b2J", Remedy: "fix it"}) || strings.ContainsRune(out.String(), 0x9b) {
		t.Errorf("%+v", found)
	}
}

func TestChecksOfTheMachine(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	noEngine := chdblib.Config{Path: file + ".so"}
	for _, c := range []struct {
		name  string
		check doctor.Check
		want  doctor.Status
	}{
		{"a folder that is to be made", doctor.DataFolder(filepath.Join(t.TempDir(), "a", "b")), doctor.OK},
		{"a file for a folder", doctor.DataFolder(file), doctor.Fail},
		{"below a file", doctor.DataFolder(filepath.Join(file, "x")), doctor.Fail},
		{"no engine", doctor.Engine(noEngine), doctor.Fail},
		{"no plugin", doctor.Plugin(nil), doctor.Fail},
		{"a plugin that is not there", doctor.Plugin([]string{file + ".none"}), doctor.Fail},
		{"loopback", doctor.Loopback(), doctor.OK},
		{"program", doctor.Platform("v1"), doctor.OK},
	} {
		if f := c.check.Look(t.Context()); f.Status != c.want || f.Detail == "" {
			t.Errorf("%s: %+v, want %s", c.name, f, c.want)
		}
	}
}

func TestNPMIsNeededOnlyWithoutTheEngine(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	engine := filepath.Join(t.TempDir(), "libchdb.so")
	if err := os.WriteFile(engine, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if f := doctor.NPM(chdblib.Config{Path: engine}).Look(t.Context()); f.Status != doctor.OK {
		t.Errorf("with the engine: %+v", f)
	}
	if f := doctor.NPM(chdblib.Config{Path: engine + ".none"}).Look(t.Context()); f.Status != doctor.Fail || f.Remedy == "" {
		t.Errorf("without the engine: %+v", f)
	}
	if f := doctor.Python("python3").Look(t.Context()); f.Status != doctor.Warn {
		t.Errorf("without Python: %+v", f)
	}
}

// TestPythonIsTheConfiguredOne: one by its path, whatever the PATH leads to.
func TestPythonIsTheConfiguredOne(t *testing.T) {
	want := pythontest.Interpreter(t)
	t.Setenv("PATH", t.TempDir())
	if f := doctor.Python(want.Path).Look(t.Context()); f.Status != doctor.OK || !strings.Contains(f.Detail, want.Version+" at "+want.Path) {
		t.Errorf("%+v", f)
	}
	other := filepath.Join(t.TempDir(), "python3.9")
	if err := os.WriteFile(other, []byte("#!/bin/sh\necho no Python\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if f := doctor.Python(other).Look(t.Context()); f.Status != doctor.Warn || !strings.Contains(f.Detail, other) || f.Remedy == "" {
		t.Errorf("what is no Python: %+v", f)
	}
}
