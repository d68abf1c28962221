package audit

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Warehouse tallies what the warehouse holds. With a run, only its rows are read, and tables without a run_id are left out;
// with uuid.Nil everything is.
func Warehouse(ctx context.Context, conn olap.Conn, run uuid.UUID) (Tallies, error) {
	catalogue, err := tables.New()
	if err != nil {
		return nil, err
	}
	out := Tallies{}
	for _, t := range catalogue.Tables {
		if t.Bookkeeping || (run != uuid.Nil && !hasRun(t)) {
			continue
		}
		if err := out.read(ctx, conn, t, run); err != nil {
			return nil, fmt.Errorf("read %s: %w", t.Name, err)
		}
	}
	return out, nil
}

func hasRun(t *tables.Table) bool {
	for _, c := range t.Columns {
		if c.Name == "run_id" {
			return true
		}
	}
	return false
}

func (t Tallies) read(ctx context.Context, conn olap.Conn, table *tables.Table, run uuid.UUID) (err error) {
	query := "SELECT " + strings.Join(table.Stored(), ", ") + " FROM " + tables.Database + "." + table.Name
	if run != uuid.Nil {
		query += " WHERE run_id = '" + run.String() + "'"
	}
	stream, err := conn.QueryFormat(ctx, "ArrowStream", query)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stream.Close()) }()
	r, err := ipc.NewReader(stream)
	if err != nil {
		return fmt.Errorf("read Arrow: %w", err)
	}
	defer r.Release()
	for r.Next() {
		if err := t.tally(table, r.Record()); err != nil {
			return err
		}
	}
	return r.Err()
}
