package sqlview_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/cmd/spade/internal/sqlview"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
)

func TestMain(m *testing.M) {
	clickhousetest.Child()
	goleak.VerifyTestMain(m)
}

const three = `SELECT number AS n, concat('x', char(27), toString(number)) AS text, if(number = 1, NULL, number / 4) AS share
	FROM numbers(3) ORDER BY n;`

func TestFormats(t *testing.T) {
	server, conn := olaptest.Start(t)
	_ = conn
	reader := olaptest.OpenReader(t, server)
	query := func(format, sql string) string {
		t.Helper()
		var out bytes.Buffer
		if err := sqlview.Query(t.Context(), reader, sql, sqlview.Settings{Out: &out, Format: format}); err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		return out.String()
	}
	for format, want := range map[string]string{
		"table": "n  text    share\n0  x\\x1b0      0\n1  x\\x1b1   ᴺᵁᴸᴸ\n2  x\\x1b2    0.5\n3 rows\n",
		"csv":   "\"n\",\"text\",\"share\"\n0,\"x\x1b0\",0\n1,\"x\x1b1\",\\N\n2,\"x\x1b2\",0.5\n",
	} {
		if got := query(format, three); got != want {
			t.Errorf("%s: got\n%q\nwant\n%q", format, got, want)
		}
	}
	var list []map[string]any
	if err := json.Unmarshal([]byte(query("json", three)), &list); err != nil || len(list) != 3 || list[2]["share"] != 0.5 {
		t.Errorf("json: %v, %v", list, err)
	}
	if got := query("json", "SELECT 1 WHERE 0"); got != "[]\n" {
		t.Errorf("an empty array is %q", got)
	}
	if got := query("jsonl", three); strings.Count(got, "\n") != 3 {
		t.Errorf("jsonl: %q", got)
	}
	arrows, err := ipc.NewReader(strings.NewReader(query("arrow", three)))
	if err != nil || !arrows.Next() || arrows.Record().NumRows() != 3 {
		t.Errorf("arrow: %v", err)
	}
	if got := query("parquet", three); !strings.HasPrefix(got, "PAR1") || !strings.HasSuffix(got, "PAR1") {
		t.Errorf("parquet: %d bytes", len(got))
	}
	if got := query("table", "SELECT name FROM system.tables WHERE database = 'spade' AND name = 'rollouts'"); !strings.Contains(got, "rollouts\n1 row\n") {
		t.Errorf("the warehouse: %s", got)
	}
	if got := query("table", "DESCRIBE spade.steps"); !strings.HasPrefix(got, "name  ") || !strings.Contains(got, "log-probability of the whole action") ||
		strings.Contains(got, "default_expression") {
		t.Errorf("DESCRIBE: %s", got)
	}
	if got := query("jsonl", "DESCRIBE spade.steps"); !strings.Contains(got, "default_expression") {
		t.Errorf("DESCRIBE as JSON lines: %s", got)
	}
	if got := query("table", "SELECT number FROM numbers(2500)"); !strings.HasSuffix(got, "2500 rows\n") || strings.Count(got, "number") != 3 {
		t.Errorf("a large answer has %d titles", strings.Count(got, "number"))
	}
	t.Run("terminal", func(t *testing.T) { terminal(t, reader) })
	t.Run("refusals", func(t *testing.T) { refusals(t, reader) })
}

// terminal wants no control character and no binary on a screen.
func terminal(t *testing.T, conn olap.Conn) {
	for _, format := range []string{"table", "csv", "json", "jsonl"} {
		var out bytes.Buffer
		set := sqlview.Settings{Out: &out, Format: format, Terminal: true, Columns: 12}
		if err := sqlview.Query(t.Context(), conn, three, set); err != nil {
			t.Fatal(err)
		}
		if strings.Contains(out.String(), "\x1b") {
			t.Errorf("%s: %q", format, out.String())
		}
	}
	for _, format := range []string{"arrow", "parquet"} {
		err := sqlview.Query(t.Context(), conn, three, sqlview.Settings{Out: &bytes.Buffer{}, Format: format, Terminal: true})
		if !errors.Is(err, sqlview.ErrBinary) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

func refusals(t *testing.T, conn olap.Conn) {
	for _, sql := range []string{
		"", "SELECT 1; SELECT 2", "DROP TABLE spade.rollouts", "INSERT INTO spade.runs VALUES (1)", "SELECT 1 INTO OUTFILE 'x'",
		"KILL QUERY WHERE 1", "SELECT * FROM file('/etc/passwd')", "SELECT * FROM url('http://127.0.0.1')", "SELECT 1 FORMAT JSON",
	} {
		for _, limits := range []*sqlguard.Limits{nil, {}} {
			err := sqlview.Query(t.Context(), conn, sql, sqlview.Settings{Out: &bytes.Buffer{}, Format: "table", Limits: limits})
			if !errors.Is(err, sqlview.ErrRefused) {
				t.Errorf("%s: %v", sql, err)
			}
		}
	}
	err := sqlview.Query(t.Context(), conn, "SELECT nothing FROM nowhere", sqlview.Settings{Out: &bytes.Buffer{}, Format: "csv"})
	if err == nil || errors.Is(err, sqlview.ErrRefused) {
		t.Errorf("an unknown table: %v", err)
	}
	if err := sqlview.Query(t.Context(), conn, "SELECT 1", sqlview.Settings{Format: "xml"}); !errors.Is(err, sqlview.ErrFormat) {
		t.Errorf("an unknown format: %v", err)
	}
}
