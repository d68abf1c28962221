package audit

import (
	"context"
	"errors"
	"fmt"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Reader is what Compare needs of the log; *bus.Client is one.
type Reader interface {
	Read(ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Event) error) error
}

// Embedder is the sink's.
type Embedder interface {
	Model() string
	Dim() int
	Embed(ctx context.Context, texts []string, kind string) ([][]float32, error)
}

// Compare compares the warehouse with all of the topics' events and names every row that differs. The ledger holds the
// counts; its Release must be called.
func Compare(ctx context.Context, r Reader, names []string, conn olap.Conn, set Settings) (*Ledger, []RowDifference, error) {
	set.Withdrawn = map[uuid.UUID]int64{}
	catalogue, err := tables.New()
	if err != nil {
		return nil, nil, err
	}
	scratch := tables.NewSet(memory.DefaultAllocator, catalogue, 0)
	defer scratch.Release()
	if err := readRows(ctx, r, names, set, withdrawals(set.Withdrawn, scratch)); err != nil {
		return nil, nil, err
	}
	ledger, err := NewLedger(set)
	if err != nil {
		return nil, nil, err
	}
	found, err := compare(ctx, r, names, conn, ledger)
	if err != nil {
		ledger.Release()
		return nil, nil, err
	}
	return ledger, found, nil
}

func compare(ctx context.Context, r Reader, names []string, conn olap.Conn, ledger *Ledger) ([]RowDifference, error) {
	if err := readRows(ctx, r, names, ledger.Settings, ledger.Add); err != nil {
		return nil, err
	}
	if err := ledger.Take(ctx, conn, nil); err != nil {
		return nil, err
	}
	keys := ledger.Differing()
	detail, err := NewDetail(ledger.Settings, keys)
	if err != nil {
		return nil, err
	}
	defer detail.Release()
	if err := readRows(ctx, r, names, ledger.Settings, detail.Add); err != nil {
		return nil, err
	}
	return detail.Compare(ctx, conn, keys)
}

// withdrawals notes which documents were withdrawn, by records that the sink takes: scratch tells.
func withdrawals(to map[uuid.UUID]int64, scratch *tables.Set) func(context.Context, event.Event, proto.Message) error {
	return func(_ context.Context, ev event.Event, msg proto.Message) error {
		if err := scratch.Append(&ev, msg); err != nil {
			return err
		}
		for _, b := range scratch.Blocks() {
			b.Record.Release()
		}
		if m, ok := msg.(*spadepb.DocumentWithdrawn); ok {
			to[uuid.UUID(m.GetDocumentId())] = ev.LastOffset
		}
		return nil
	}
}

// place is an event id in a partition: there its first record that can become rows wins.
type place struct {
	partition int32
	id        uuid.UUID
}

// readRows gives fn the events that become rows, as the sink takes them.
func readRows(
	ctx context.Context, r Reader, names []string, set Settings, fn func(context.Context, event.Event, proto.Message) error,
) error {
	for _, name := range names {
		seen := map[place]bool{}
		err := r.Read(ctx, name, nil, nil, func(ev event.Event) error {
			at := place{ev.Partition, ev.ID}
			if seen[at] || (set.Run != uuid.Nil && !topics.OfRun(ev.Key, set.Run)) {
				return nil
			}
			msg, err := ev.Message()
			if err == nil {
				err = fn(ctx, ev, msg)
			}
			switch {
			case err == nil:
				seen[at] = true
			case !noRows(err):
				return err
			}
			return nil
		})
		if err != nil {
			return fmt.Errorf("read %s: %w", name, err)
		}
	}
	return nil
}

// noRows reports whether an error says that an event can become no rows: it is in the dead letters.
func noRows(err error) bool {
	return errors.Is(err, tables.ErrInvalid) || errors.Is(err, event.ErrMalformed) || errors.Is(err, event.ErrUnknownType)
}
