package analytics

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/olap"
)

//go:embed sql/*.sql
var files embed.FS

// ErrUnknownQuery says that there is no query of that name.
var ErrUnknownQuery = errors.New("unknown query")

// Query is one question.
type Query struct {
	Name  string
	Shows string // what the answer shows
	SQL   string
	Run   bool // it is asked about one run
}

// Queries returns every question, sorted by name.
func Queries() ([]Query, error) {
	paths, err := fs.Glob(files, "sql/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list queries: %w", err)
	}
	slices.Sort(paths)
	list := make([]Query, 0, len(paths))
	for _, p := range paths {
		text, err := files.ReadFile(p)
		if err != nil {
			return nil, fmt.Errorf("read query: %w", err)
		}
		list = append(list, parse(strings.TrimSuffix(path.Base(p), ".sql"), string(text)))
	}
	return list, nil
}

// Find returns the question of that name.
func Find(name string) (Query, error) {
	list, err := Queries()
	if err != nil {
		return Query{}, err
	}
	names := make([]string, 0, len(list))
	for _, q := range list {
		if q.Name == name {
			return q, nil
		}
		names = append(names, q.Name)
	}
	return Query{}, fmt.Errorf("%w %q; there are %s", ErrUnknownQuery, name, strings.Join(names, ", "))
}

func parse(name, text string) Query {
	q := Query{Name: name, SQL: strings.TrimSpace(text), Run: strings.Contains(text, "{run:UUID}")}
	var shows []string
	for line := range strings.Lines(text) {
		comment, ok := strings.CutPrefix(strings.TrimSpace(line), "-- ")
		if !ok {
			break
		}
		shows = append(shows, comment)
	}
	q.Shows = strings.Join(shows, " ")
	return q
}

// Rows is an answer being read; it must be closed.
type Rows interface {
	Columns() []string
	Next() bool
	Scan(dest ...any) error
	Err() error
	Close() error
}

// Run asks a question; run is ignored where it is about none.
func Run(ctx context.Context, conn olap.Conn, name string, run uuid.UUID) (Rows, error) {
	q, err := Find(name)
	if err != nil {
		return nil, err
	}
	if q.Run {
		ctx = clickhouse.Context(ctx, clickhouse.WithParameters(clickhouse.Parameters{"run": run.String()}))
	}
	rows, err := conn.Query(ctx, q.SQL)
	if err != nil {
		return nil, fmt.Errorf("query %s: %w", name, err)
	}
	return rows, nil
}
