package clickhouse

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
)

func TestMain(m *testing.M) {
	clickhousetest.Child()
	goleak.VerifyTestMain(m)
}

const install = "npm ci --prefix test/clients/clickhouse"

// need skips where the run does not ask for other people's clients; where it does, a missing program is a failure
// that says how to mend it.
func need(t *testing.T, program, how string) string {
	t.Helper()
	if os.Getenv("SPADE_TEST_CLIENTS") != "1" {
		t.Skip("set SPADE_TEST_CLIENTS=1 to run other people's clients; install them with: " + how)
	}
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%s is not installed (%v); run: %s", program, err, how)
	}
	return path
}

// run gives a program's standard output, and its error with what it printed.
func run(t *testing.T, env []string, argv ...string) (string, error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, argv[0], argv[1:]...) //nolint:gosec // the programs named in this file
	cmd.Env = append(os.Environ(), env...)
	var out, warned bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &warned
	err := cmd.Run()
	if err != nil {
		t.Logf("%s printed: %s%s", argv[0], out.String(), warned.String())
	}
	return out.String(), err
}

func TestJavaScriptClient(t *testing.T) {
	node := need(t, "node", "apt-get install nodejs npm")
	if _, err := os.Stat("node_modules/@clickhouse/client"); err != nil {
		t.Fatalf("the client is not installed (%v); run: %s", err, install)
	}
	s := clickhousetest.Start(t)
	out, err := run(t, []string{
		"WRITER=" + clickhousetest.User, "WRITER_PASSWORD=" + clickhousetest.Password,
		"READER=" + clickhouse.Reader, "READER_PASSWORD=" + clickhousetest.ReaderPassword,
	}, node, "client.mjs", s.URL())
	if err != nil {
		t.Fatal(err)
	}
	var seen map[string]any
	if err := json.Unmarshal([]byte(out), &seen); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for name, want := range map[string]any{
		"ping":          true,
		"insertSummary": "1000",
		"insertQueryId": true,
		"row":           map[string]any{"id": 7.0, "name": "näme\n\n7", "score": 1.75, "tags": []any{"a", "7"}, "at": "2026-11-29 12:34:56.789123"},
		"meta":          []any{"UInt64", "String", "Nullable(Float64)", "Array(String)", "DateTime64(6, 'UTC')"},
		"param":         "it's\ta\nline\\",
		"queryId":       "chosen-by-js",
		"streamed":      300000.0,
	} {
		if !reflect.DeepEqual(seen[name], want) {
			t.Errorf("%s: %#v, want %#v", name, seen[name], want)
		}
	}
	for name, code := range map[string]string{
		"unknownTable": "60", "syntax": "62", "write": "164", "insert": "164", "session": "48", "midStream": "395", "login": "516",
	} {
		if got, ok := seen[name].(map[string]any); !ok || got["code"] != code {
			t.Errorf("%s: %v, want the code %s", name, seen[name], code)
		}
	}
	if got, ok := seen["aborted"].(map[string]any); !ok || !strings.Contains(strings.ToLower(got["message"].(string)), "abort") {
		t.Errorf("an aborted query: %v", seen["aborted"])
	}
}

func TestCurl(t *testing.T) {
	curl := need(t, "curl", "apt-get install curl")
	s := clickhousetest.Start(t)
	writer := []string{"-u", clickhousetest.User + ":" + clickhousetest.Password}
	reader := []string{"-u", clickhouse.Reader + ":" + clickhousetest.ReaderPassword}
	file := filepath.Join(t.TempDir(), "rows.csv")
	if err := os.WriteFile(file, []byte("1,one\n2,\"two\n\nlines\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		login []string
		args  []string
		want  string
	}{
		{nil, []string{s.URL() + "/ping"}, "Ok.\n"},
		{writer, []string{s.URL(), "-d", "CREATE TABLE c (a Int64, b String) ENGINE = MergeTree ORDER BY a"}, ""},
		{writer, []string{s.URL() + "/?query=INSERT+INTO+c+FORMAT+CSV", "--data-binary", "@" + file}, ""},
		{reader, []string{s.URL(), "-d", "SELECT count(), sum(length(b)) FROM c"}, "2\t13\n"},
		{reader, []string{"-G", s.URL(), "--data-urlencode", "query=SELECT a, b FROM c ORDER BY a FORMAT JSONEachRow"}, "{\"a\":1,\"b\":\"one\"}\n{\"a\":2,\"b\":\"two\\n\\nlines\"}\n"},
		{reader, []string{"--compressed", s.URL() + "/?enable_http_compression=1", "-d", "SELECT 'zipped'"}, "zipped\n"},
		{reader, []string{s.URL() + "/?param_x=5", "-d", "SELECT {x:Int64} * 2"}, "10\n"},
		{nil, []string{"-H", "X-ClickHouse-User: reader", "-H", "X-ClickHouse-Key: " + clickhousetest.ReaderPassword, s.URL(), "-d", "SELECT 1"}, "1\n"},
	} {
		got, err := run(t, nil, append(append([]string{curl, "-sS", "--fail-with-body"}, step.login...), step.args...)...)
		if err != nil || got != step.want {
			t.Errorf("%q: %q, %v; want %q", step.args, got, err, step.want)
		}
	}
	for want, args := range map[string][]string{
		"Code: 60.":  append(reader, s.URL(), "-d", "SELECT * FROM nowhere"),
		"Code: 164.": append(reader, s.URL(), "-d", "DROP TABLE c"),
		"Code: 516.": {s.URL(), "-d", "SELECT 1"},
	} {
		got, err := run(t, nil, append([]string{curl, "-sS", "--fail-with-body"}, args...)...)
		if err == nil || !strings.HasPrefix(got, want) {
			t.Errorf("%q: %q, %v; want %q", args, got, err, want)
		}
	}
}
