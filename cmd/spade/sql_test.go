package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSQLOfFiles runs what analytics/sql holds as the guide says, on a warehouse that has its tables and no run.
func TestSQLOfFiles(t *testing.T) {
	environ, data := environment(t)
	if r := spade(t, environ, "verify", "--data", data); r.code != exitOK { // which makes the tables
		t.Fatalf("%+v", r)
	}
	dir, err := filepath.Abs(filepath.Join(golds, "..", "..", "..", "analytics", "sql"))
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.sql"))
	if err != nil || len(files) < 10 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	const run = "run=38f836dc-203e-5c45-acbf-24e66052c5f5"
	for _, file := range files {
		if r := spade(t, environ, "sql", "--file", file, "--param", run, "--format", "csv", "--data", data); r.code != exitOK || r.out == "" {
			t.Errorf("%s: %+v", filepath.Base(file), r)
		}
	}
	curve := filepath.Join(dir, "learning_curve.sql")
	text, err := os.ReadFile(curve)
	if err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"sql"}, {"sql", "--file", "-"}} {
		r := spadeWith(t, string(text), environ, append(args, "--param", run, "--format", "csv", "--data", data)...)
		if r.code != exitOK || !strings.HasPrefix(r.out, `"iteration","policy_version"`) {
			t.Errorf("%v from standard input: %+v", args, r)
		}
	}
	if r := spade(t, environ, "sql", "--file", curve, "--data", data); r.code != exitFailure || !strings.Contains(r.stderr, "--param name=value") {
		t.Errorf("without its parameter: %+v", r)
	}
	if r := spade(t, environ, "sql", "--file", curve, "--param", "run=demo", "--data", data); r.code != exitFailure || !strings.Contains(r.stderr, "by its id") {
		t.Errorf("a name as an id: %+v", r)
	}
	waitForServices(t, data)
}

// TestSQLMistakes are those that no service is needed for.
func TestSQLMistakes(t *testing.T) {
	for _, c := range []struct {
		name string
		args []string
		want string
	}{
		{"nothing", nil, "QUERY is missing"},
		{"empty input", []string{"--file", "-"}, "QUERY is missing"},
		{"two queries", []string{"SELECT 1", "SELECT 2"}, "unexpected argument"},
		{"query and file", []string{"SELECT 1", "--file", "x.sql"}, "exclude each other"},
		{"no such file", []string{"--file", "none.sql"}, "none.sql: no such file"},
		{"a comment first", []string{"-- A run's course\nSELECT 1"}, "--file FILE"},
		{"no value", []string{"SELECT 1", "--param", "run"}, "is not name=value"},
		{"no name", []string{"SELECT 1", "--param", "=1"}, "is not name=value"},
		{"a name twice", []string{"SELECT 1", "--param", "a=1", "--param", "a=2"}, "has a value already"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if r := spade(t, nil, append([]string{"sql"}, c.args...)...); r.code != exitUsage || !strings.Contains(r.stderr, c.want) {
				t.Errorf("%+v", r)
			}
		})
	}
}
