package analytics_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/analytics"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) {
	clickhousetest.Child()
	goleak.VerifyTestMain(m)
}

// TestQueries asks every question about a small run, as the user who may only read, and compares the answers with
// testdata/*.csv.
func TestQueries(t *testing.T) {
	server, conn := olaptest.Start(t)
	olaptest.Fill(t, conn, olaptest.Story(t))
	reader := olaptest.OpenReader(t, server)
	list, err := analytics.Queries()
	if err != nil {
		t.Fatal(err)
	}
	if len(list) < 10 {
		t.Errorf("%d queries", len(list))
	}
	for _, q := range list {
		t.Run(q.Name, func(t *testing.T) {
			if q.Shows == "" {
				t.Error("it does not say what it shows")
			}
			if err := sqlguard.Check(q.SQL); err != nil {
				t.Error(err)
			}
			rows, err := analytics.Run(t.Context(), reader, q.Name, olaptest.StoryRun())
			if err != nil {
				t.Fatal(err)
			}
			if !rows.Next() {
				t.Error("no rows")
			}
			if err := rows.Close(); err != nil {
				t.Error(err)
			}
			if q.Name == "lag" {
				return // it measures the clock
			}
			golden(t, q.Name, answer(t, reader, q))
		})
	}
}

func answer(t *testing.T, conn olap.Conn, q analytics.Query) string {
	t.Helper()
	ctx := clickhouse.Context(t.Context(), clickhouse.WithParameters(clickhouse.Parameters{"run": olaptest.StoryRun().String()}))
	return csv(ctx, t, conn, q.SQL)
}

func csv(ctx context.Context, t *testing.T, conn olap.Conn, sql string) string {
	t.Helper()
	stream, err := conn.QueryFormat(ctx, "CSVWithNames", sql)
	if err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	var out bytes.Buffer
	_, err = io.Copy(&out, stream)
	if err := errors.Join(err, stream.Close()); err != nil {
		t.Fatalf("%v\n%s", err, sql)
	}
	return out.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name+".csv")
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFind(t *testing.T) {
	if _, err := analytics.Find("nothing"); !errors.Is(err, analytics.ErrUnknownQuery) || !strings.Contains(err.Error(), "learning_curve") {
		t.Errorf("error %v", err)
	}
	q, err := analytics.Find("learning_curve")
	if err != nil || !q.Run || !strings.HasPrefix(q.Shows, "A run's course") {
		t.Errorf("%+v, %v", q, err)
	}
	if q, err = analytics.Find("runs"); err != nil || q.Run {
		t.Errorf("%+v, %v", q, err)
	}
}

// fenced is an SQL block of a page.
var fenced = regexp.MustCompile("(?s)```sql\n(.*?)```")

// TestGuide runs every query of the users' guide on a small run, as the user who may only read. All but those that look for
// what must not be there, or need more than the small run, have rows.
func TestGuide(t *testing.T) {
	server, conn := olaptest.Start(t)
	olaptest.Fill(t, conn, olaptest.StoryWithPool(t))
	reader := olaptest.OpenReader(t, server)
	page, err := os.ReadFile(filepath.Join("..", "docs", "sql.md"))
	if err != nil {
		t.Fatal(err)
	}
	blocks := fenced.FindAllStringSubmatchIndex(string(page), -1)
	if len(blocks) < 10 {
		t.Fatalf("%d queries in the guide", len(blocks))
	}
	empty := 0
	for _, b := range blocks {
		sql := strings.TrimSpace(string(page[b[2]:b[3]]))
		line := 1 + strings.Count(string(page[:b[2]]), "\n")
		t.Run(fmt.Sprint("line ", line), func(t *testing.T) {
			if err := sqlguard.Check(sql); err != nil {
				t.Error(err)
			}
			if strings.Count(csv(t.Context(), t, reader, sql), "\n") < 2 {
				empty++
				t.Log("no rows")
			}
		})
	}
	if empty > 4 {
		t.Errorf("%d of %d queries have no rows", empty, len(blocks))
	}
}
