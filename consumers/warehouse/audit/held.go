package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Take takes what the warehouse holds off the ledger. progress is told how many rows were read; it may be nil.
func (l *Ledger) Take(ctx context.Context, conn olap.Conn, progress func(rows int64)) error {
	if err := l.Flush(); err != nil {
		return err
	}
	var read int64
	for _, t := range l.catalogue.Tables {
		if t.Bookkeeping || (l.Run != uuid.Nil && !hasRun(t)) {
			continue
		}
		where := ""
		if l.Run != uuid.Nil {
			where = "run_id = '" + l.Run.String() + "'"
		}
		err := records(ctx, conn, t, where, func(rec arrow.Record) error {
			if read += rec.NumRows(); progress != nil {
				progress(read)
			}
			return l.take(t, rec, false)
		})
		if err != nil {
			return fmt.Errorf("read %s: %w", t.Name, err)
		}
	}
	return nil
}

// records reads the stored columns of a table.
func records(ctx context.Context, conn olap.Conn, t *tables.Table, where string, fn func(arrow.Record) error) (err error) {
	query := "SELECT " + strings.Join(t.Stored(), ", ") + " FROM " + tables.Database + "." + t.Name
	if where != "" {
		query += " WHERE " + where
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
		if err := fn(r.Record()); err != nil {
			return err
		}
	}
	return r.Err()
}

func hasRun(t *tables.Table) bool {
	return slices.ContainsFunc(t.Columns, func(c tables.Column) bool { return c.Name == "run_id" })
}
