package inspect

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"reflect"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/ids"
)

//go:embed sql/*.sql
var files embed.FS

// ErrNotFound says that the warehouse knows nothing of that id or name.
var ErrNotFound = errors.New("the warehouse holds no run, environment, rollout or document")

// Subject is what an id stands for.
type Subject struct {
	Kind string // "run", "environment", "rollout", "document"
	ID   uuid.UUID
}

// Find says what an id, or the name of a run, stands for. The error is of class ErrNotFound when it is nothing.
func Find(ctx context.Context, conn olap.Conn, text string) (Subject, error) {
	id, err := uuid.Parse(text)
	if err != nil {
		id = ids.Run(text)
	}
	found, err := ask(ctx, conn, "kind", id)
	if err != nil {
		return Subject{}, err
	}
	if len(found.rows) == 0 {
		return Subject{}, fmt.Errorf("%w %q", ErrNotFound, text)
	}
	kind, ok := found.rows[0][0].(string)
	if !ok {
		return Subject{}, fmt.Errorf("look %q up: its kind is a %T", text, found.rows[0][0])
	}
	return Subject{kind, id}, nil
}

// layout is how a section is written.
type layout int

const (
	layoutRecord layout = iota // the columns of one row, one a line
	layoutRows                 // a table
	layoutText                 // texts of one column, whole
	layoutSteps                // the steps of an episode
)

// section is one part of what is shown.
type section struct {
	name   string
	layout layout
}

// sections are what is shown of each kind, in order.
func sections(kind string) []section {
	switch kind {
	case "run":
		return []section{
			{"run", layoutRecord},
			{"config", layoutRows},
			{"totals", layoutRecord},
			{"iterations", layoutRows},
			{"pool", layoutRows},
			{"drawn", layoutRows},
			{"rejections", layoutRows},
			{"policies", layoutRows},
		}
	case "environment":
		return []section{
			{"environment", layoutRecord},
			{"documents", layoutRows},
			{"neighbours", layoutRows},
			{"episodes", layoutRows},
			{"regrets", layoutRows},
			{"pay", layoutRecord},
			{"hint", layoutText},
			{"code", layoutText},
		}
	case "rollout":
		return []section{
			{"rollout", layoutRecord},
			{"lineage", layoutRecord},
			{"training", layoutRows},
			{"hint", layoutText},
			{"steps", layoutSteps},
			{"final", layoutText},
		}
	default:
		return []section{{"document", layoutRecord}, {"environments", layoutRows}, {"text", layoutText}}
	}
}

// answer is the result of one query.
type answer struct {
	columns []string
	rows    [][]any
}

// ask runs a named query about an id.
func ask(ctx context.Context, conn olap.Conn, name string, id uuid.UUID) (answer, error) {
	query, err := files.ReadFile("sql/" + name + ".sql")
	if err != nil {
		return answer{}, fmt.Errorf("find query: %w", err)
	}
	rows, err := conn.Query(ctx, string(query), clickhouse.Named("id", id.String()))
	if err != nil {
		return answer{}, fmt.Errorf("query %s: %w", name, err)
	}
	a := answer{columns: rows.Columns()}
	types := rows.ColumnTypes()
	for rows.Next() {
		targets := make([]any, len(types))
		for i, t := range types {
			targets[i] = reflect.New(t.ScanType()).Interface()
		}
		if err := rows.Scan(targets...); err != nil {
			return answer{}, errors.Join(fmt.Errorf("read answer of %s: %w", name, err), rows.Close())
		}
		for i, t := range targets {
			targets[i] = reflect.ValueOf(t).Elem().Interface()
		}
		a.rows = append(a.rows, targets)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return answer{}, fmt.Errorf("read answer of %s: %w", name, err)
	}
	return a, nil
}
