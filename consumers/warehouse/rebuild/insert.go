package rebuild

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/tables"
)

func release(blocks []tables.Block) {
	for _, b := range blocks {
		b.Record.Release()
	}
}

// insertAll inserts what comes, until there is no more.
func (k *worker) insertAll(ctx context.Context) error {
	for blocks := range k.blocks {
		err := k.insert(ctx, blocks)
		release(blocks)
		if err != nil {
			return err
		}
		select {
		case k.inserted <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (k *worker) insert(ctx context.Context, blocks []tables.Block) error {
	for _, b := range blocks {
		if err := k.w.insertBlock(ctx, b); err != nil {
			return err
		}
		k.w.rows.Add(b.Record.NumRows())
	}
	return nil
}

// insertBlock inserts a block, again and again under one token while no answer comes. A server that was killed may remember the
// token of rows that it lost: then the block goes in under another one.
func (w *Warehouse) insertBlock(ctx context.Context, b tables.Block) error {
	for token := fmt.Sprintf("rebuild:%d", w.blocks.Add(1)); ; token += "+" {
		tries := 0
		err := retry(ctx, w.log, "insert into "+b.Table.Name, func() error {
			tries++
			return w.store.Insert(ctx, b.Table, token, b.Record)
		})
		if err != nil || tries == 1 {
			return err
		}
		there := false
		err = retry(ctx, w.log, "look for rows of "+b.Table.Name, func() (err error) {
			there, err = w.in(ctx, b)
			return err
		})
		if err != nil || there {
			return err
		}
	}
}

// in reports whether a block whose insert was not answered is in. It is in as a whole or not at all, so one row tells.
func (w *Warehouse) in(ctx context.Context, b tables.Block) (bool, error) {
	topic, ok1 := column(b.Record, "kafka_topic").(*array.String)
	partition, ok2 := column(b.Record, "kafka_partition").(*array.Int32)
	offset, ok3 := column(b.Record, tables.OffsetColumn).(*array.Int64)
	if !ok1 || !ok2 || !ok3 {
		return false, fmt.Errorf("rows of %s do not say where they come from", b.Table.Name)
	}
	place := warehouse.Place{Topic: topic.Value(0), Partition: partition.Value(0)}
	held, err := w.store.Held(ctx, b.Table, place, warehouse.Range{First: offset.Value(0), Last: offset.Value(0)})
	return len(held) > 0, err
}

func column(rec arrow.Record, name string) arrow.Array {
	at := rec.Schema().FieldIndices(name)
	if len(at) != 1 {
		return nil
	}
	return rec.Column(at[0])
}

// tryFor is how long a server that does not answer is waited for.
const tryFor = 2 * time.Minute

// retry calls fn until it succeeds, fails for good, or the server has not answered for long.
func retry(ctx context.Context, log *slog.Logger, what string, fn func() error) error {
	began, tries := time.Now(), warehouse.Tries(log)
	for wait := 50 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		err := fn()
		if err == nil {
			tries.Succeeds(ctx, "step", what)
			return nil
		}
		if !errors.Is(err, warehouse.ErrTransient) || time.Since(began) > tryFor {
			return fmt.Errorf("%s: %w", what, err)
		}
		tries.Fails(ctx, olap.Code(err), "step", what, "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return fmt.Errorf("%s: %w: %w", what, ctx.Err(), err)
		}
	}
}
