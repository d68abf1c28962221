package main

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/seed256f7767/spade/internal/embedded/chdblib"
)

// environment gives a command what it needs of this machine's, and a data folder of its own.
func environment(t *testing.T) (environ []string, data string) {
	t.Helper()
	library, err := chdblib.Find(chdblib.Config{})
	if err != nil {
		t.Fatalf("%v (make engine)", err)
	}
	data = filepath.Join(t.TempDir(), "data")
	if err := os.Mkdir(data, 0o700); err != nil {
		t.Fatal(err)
	}
	return []string{"SPADE_LIBCHDB=" + library, "PATH=" + os.Getenv("PATH")}, data
}

func TestCorpusAndEvents(t *testing.T) {
	environ, data := environment(t)
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "a.md"), []byte("# Sorting\n\nA sort orders\x1b[2J things.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	gone := filepath.Join(t.TempDir(), "gone.md")
	if r := spade(t, environ, "corpus", "add", gone, "--data", data); r.code != exitFailure {
		t.Errorf("a path that is not there: %+v", r)
	}
	if r := spade(t, environ, "corpus", "add", docs, "--data", data); r.code != exitOK || !strings.Contains(r.out, "1 added as 1 chunks") {
		t.Fatalf("%+v", r)
	}
	if r := spade(t, environ, "corpus", "add", docs, gone, "--data", data); r.code != exitFailure || !strings.Contains(r.stderr, "gone.md is not there") {
		t.Errorf("one path of two is not there: %+v", r)
	}
	if r := spade(t, environ, "corpus", "list", "--data", data); !strings.Contains(r.out, "Sorting") || !strings.Contains(r.stderr, "1 documents") {
		t.Errorf("list: %+v", r)
	}
	r := spade(t, environ, "events", "cat", "documents", "--json", "--data", data)
	var event struct {
		Headers struct {
			Type string `json:"ce_type"`
		}
		Payload struct{ Title string }
	}
	if err := json.Unmarshal([]byte(r.out), &event); err != nil {
		t.Fatalf("%v in %+v", err, r)
	}
	if event.Headers.Type != "spade.v1.DocumentIngested" || event.Payload.Title != "Sorting" || strings.Contains(r.out, "\x1b") {
		t.Errorf("%s", r.out)
	}
	if r := spade(t, environ, "events", "tail", "documents", "--no-follow", "--data", data); !strings.Contains(r.out, "DocumentIngested") {
		t.Errorf("tail: %+v", r)
	}
	if r := spade(t, environ, "events", "cat", "nonsense", "--data", data); r.code != exitUsage || !strings.Contains(r.stderr, "spade.rollouts") {
		t.Errorf("an unknown topic: %+v", r)
	}
	if r := spade(t, environ, "runs", "--data", data); r.code != exitOK || !strings.Contains(r.stderr, "no runs yet") {
		t.Errorf("runs: %+v", r)
	}
	if r := spade(t, environ, "digest", "none", "--data", data); r.code != exitFailure || !strings.Contains(r.stderr, "no such run") {
		t.Errorf("digest: %+v", r)
	}
}

func TestSQL(t *testing.T) {
	environ, data := environment(t)
	r := spade(t, environ, "sql", "SELECT 6 * 7 AS answer", "--format", "csv", "--data", data)
	if r.code != exitOK || r.out != "\"answer\"\n42\n" {
		t.Errorf("%+v", r)
	}
	if r := spade(t, environ, "sql", "SELECT 1 INTO OUTFILE 'x'", "--data", data); r.code != exitFailure || !strings.Contains(r.stderr, "may not run") {
		t.Errorf("%+v", r)
	}
	if r := spade(t, environ, "sql", "SELECT 1", "--format", "xml", "--data", data); r.code != exitUsage || !strings.Contains(r.stderr, "parquet") {
		t.Errorf("%+v", r)
	}
}

func TestUpPrintsTheEnvironmentOfOtherClients(t *testing.T) {
	environ, data := environment(t)
	r := spade(t, environ, "up", "--print-env", "--linger", "100ms", "--data", data)
	for _, want := range []string{"export SPADE_KAFKA_BROKERS=127.0.0.1:", "export CLICKHOUSE_READER_PASSWORD=", "export SPADE_QDRANT_API_KEY=", "# kcat ", "# curl "} {
		if !strings.Contains(r.out, want) {
			t.Errorf("%q is missing in %+v", want, r)
		}
	}
	waitForServices(t, data)
}

// waitForServices waits for the end of services that nobody uses any more: what they write when they stop must not meet
// the removal of their folder. They hold its lock to the last.
func waitForServices(t *testing.T, data string) {
	t.Helper()
	lock, err := os.OpenFile(filepath.Join(data, "lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(syscall.Flock(int(lock.Fd()), syscall.LOCK_EX), lock.Close()); err != nil {
		t.Error(err)
	}
}

func TestDoctor(t *testing.T) {
	environ, data := environment(t)
	r := spade(t, append(environ, "SPADE_PLUGIN_COMMAND=true"), "doctor", "--json", "--data", data)
	var found []struct{ Check, Status, Detail string }
	if err := json.Unmarshal([]byte(r.out), &found); err != nil {
		t.Fatalf("%v in %+v", err, r)
	}
	for _, f := range found {
		if f.Status == "fail" {
			t.Errorf("%+v", f)
		}
	}
	if r.code != exitOK || len(found) < 10 {
		t.Errorf("exit %d, %d checks", r.code, len(found))
	}
	bad := spade(t, append(environ, "SPADE_PLUGIN_COMMAND=/none", "SPADE_CLICKHOUSE_URL=http://127.0.0.1:9"), "doctor", "--data", data)
	if bad.code != exitFailure || !strings.Contains(bad.out, "fail  plugin") || !strings.Contains(bad.out, "fail  clickhouse") || !strings.Contains(bad.out, "ok    kafka") {
		t.Errorf("%+v", bad)
	}
}
