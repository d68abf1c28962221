package warehouse

import (
	"context"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/seed256f7767/spade/schemas/tables"
)

// maxTokens is how many tokens a block is inserted under before the sink gives up.
const maxTokens = 5

// complete inserts what a table lacks of a block that may have been sent before, by this writer or an earlier one.
//
// What the table holds decides, not the token: the server may have forgotten it, because it remembers so many and no more, and it
// may remember one whose rows are not there, because a MergeTree table writes down a token before it puts the rows in place and
// can be killed in between. The token is for an insert that is still being executed, whose rows cannot be seen yet.
func (l *lane) complete(ctx context.Context, block tables.Block, span Range) error {
	p, tries := l.part, 0
	return p.retry(ctx, "insert into "+block.Table.Name, func(ctx context.Context) error {
		for ; tries < maxTokens; tries++ {
			rest, err := l.lacking(ctx, block, span)
			if err != nil {
				return err
			}
			if rest == nil {
				if tries == 0 {
					p.sink.stats.found.Add(1)
				}
				return nil
			}
			token := Token(block.Table.Name, l.place, span)
			if rest.NumRows() < block.Record.NumRows() {
				token += ":rest"
			}
			if tries > 0 {
				token = fmt.Sprintf("%s:again-%d", token, tries)
				p.sink.log.Warn("warehouse took a block for a duplicate whose rows it lacks",
					"table", block.Table.Name, "topic", l.place.Topic, "partition", l.place.Partition, "first", span.First)
			}
			err = p.sink.set.Store.Insert(ctx, block.Table, token, rest)
			rest.Release()
			if err != nil {
				return err
			}
		}
		return fmt.Errorf("the warehouse lacks rows of %s after %d insertions", Token(block.Table.Name, l.place, span), maxTokens)
	})
}

// lacking is the rows of a block whose events have none in the table, or nil. All rows of an event go in together, so an event has
// all of them or none.
func (l *lane) lacking(ctx context.Context, block tables.Block, span Range) (arrow.Record, error) {
	held, err := l.part.sink.set.Store.Held(ctx, block.Table, l.place, span)
	if err != nil {
		return nil, err
	}
	offsets, ok := block.Record.Column(block.Record.Schema().FieldIndices(tables.OffsetColumn)[0]).(*array.Int64)
	if !ok {
		return nil, fmt.Errorf("%s.%s is no column of offsets", block.Table.Name, tables.OffsetColumn)
	}
	if len(held) == 0 {
		block.Record.Retain()
		return block.Record, nil
	}
	var runs []arrow.Record
	defer func() {
		for _, r := range runs {
			r.Release()
		}
	}()
	for i := 0; i < offsets.Len(); {
		j := i
		for j < offsets.Len() && held[offsets.Value(j)] == held[offsets.Value(i)] {
			j++
		}
		if !held[offsets.Value(i)] {
			runs = append(runs, block.Record.NewSlice(int64(i), int64(j)))
		}
		i = j
	}
	if len(runs) == 0 {
		return nil, nil
	}
	return l.join(runs)
}

// join makes one record of several with the same columns.
func (l *lane) join(runs []arrow.Record) (arrow.Record, error) {
	var rows int64
	for _, r := range runs {
		rows += r.NumRows()
	}
	columns := make([]arrow.Array, 0, runs[0].NumCols())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i := range int(runs[0].NumCols()) {
		parts := make([]arrow.Array, len(runs))
		for k, r := range runs {
			parts[k] = r.Column(i)
		}
		c, err := array.Concatenate(parts, l.part.sink.set.Memory)
		if err != nil {
			return nil, fmt.Errorf("join rows: %w", err)
		}
		columns = append(columns, c)
	}
	return array.NewRecord(runs[0].Schema(), columns, rows), nil
}
