package app

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/consumers/verify"
	"github.com/seed256f7767/spade/consumers/warehouse/audit"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// rowCheck gives events to what makes rows of them, as the sink does: the first record of an id in its partition that can
// become rows.
type rowCheck struct {
	only    uuid.UUID
	add     func(context.Context, event.Event, proto.Message) error
	wants   func(key []byte) bool
	failed  map[uuid.UUID]verify.Place // ids of this partition whose records could not become rows
	refused map[verify.Place]error
	retries map[verify.Place]verify.Place // records that were appended again, by the place of the later one
}

func newRowCheck(only uuid.UUID, add func(context.Context, event.Event, proto.Message) error) *rowCheck {
	return &rowCheck{
		only: only, add: add, failed: map[uuid.UUID]verify.Place{}, refused: map[verify.Place]error{},
		retries: map[verify.Place]verify.Place{},
	}
}

// Add implements verify.Check.
func (c *rowCheck) Add(ctx context.Context, e *verify.Entry) error {
	if e.RetryOf != nil {
		c.retries[e.Place()] = *e.RetryOf
	}
	if e.Err != nil || (c.only != uuid.Nil && !topics.OfRun(e.Key, c.only)) || (c.wants != nil && !c.wants([]byte(e.Key))) {
		return nil
	}
	earlier, again := c.failed[e.ID]
	if !e.First && !again {
		return nil
	}
	err := c.add(ctx, e.Event, e.Message)
	switch {
	case err == nil && again:
		delete(c.failed, e.ID)
		delete(c.refused, earlier)
	case errors.Is(err, tables.ErrInvalid), errors.Is(err, event.ErrUnknownType):
		c.failed[e.ID] = e.Place()
		c.refused[e.Place()] = err
	case err != nil:
		return fmt.Errorf("rows of %s: %w", e.Place(), err)
	}
	return nil
}

// Partition implements verify.Check.
func (c *rowCheck) Partition(context.Context) error {
	clear(c.failed)
	return nil
}

// redactions notes the withdrawals that the sink takes: the first of an id that can become a row. release frees what it needs.
func redactions(to map[uuid.UUID]int64) (check *rowCheck, release func(), err error) {
	catalogue, err := tables.New()
	if err != nil {
		return nil, nil, err
	}
	scratch := tables.NewSet(memory.DefaultAllocator, catalogue, 0)
	check = newRowCheck(uuid.Nil, func(_ context.Context, ev event.Event, msg proto.Message) error {
		m, ok := msg.(*spadepb.DocumentWithdrawn)
		if !ok {
			return nil
		}
		if err := scratch.Append(&ev, msg); err != nil {
			return err
		}
		for _, b := range scratch.Blocks() {
			b.Record.Release()
		}
		to[uuid.UUID(m.GetDocumentId())] = ev.LastOffset
		return nil
	})
	return check, scratch.Release, nil
}

// detailed is how many keys are compared row by row; the others are named only.
const detailed = 64

// finishRows takes the warehouse's side off the ledger and names what is left.
func (v *verification) finishRows(ctx context.Context) error {
	var rows int64
	if err := v.ledger.Flush(); err != nil {
		return err
	}
	for _, c := range v.ledger.Counts() {
		rows += c.Log
	}
	if err := v.ledger.Take(ctx, v.s.warehouse, v.progress("warehouse", rows)); err != nil {
		return fmt.Errorf("read the warehouse: %w", err)
	}
	v.refusedRows()
	if err := v.laterRows(ctx); err != nil {
		return err
	}
	differing := v.ledger.Differing()
	if err := v.nameRows(ctx, differing[:min(detailed, len(differing))]); err != nil {
		return err
	}
	for _, k := range differing[min(detailed, len(differing)):] {
		log, held := v.ledger.Rows(k)
		v.report.Add(verify.AreaWarehouse, "differing key", k.String(), "%d rows in the log, %d in the warehouse", log, held)
	}
	return nil
}

// refusedRows names events that cannot become rows and that no dead letter names: the sink has not met them.
func (v *verification) refusedRows() {
	lettered := map[verify.Place]bool{}
	for _, l := range v.log.DeadLetters() {
		lettered[l.Place] = true
	}
	for _, at := range slices.SortedFunc(maps.Keys(v.rows.refused), func(a, b verify.Place) int {
		return strings.Compare(a.String(), b.String())
	}) {
		if !lettered[at] {
			v.report.Add(verify.AreaWarehouse, "unusable record", at.String(), "%v", v.rows.refused[at])
		}
	}
}

// laterRows names rows of records that the log does not have.
func (v *verification) laterRows(ctx context.Context) error {
	for topic, parts := range v.ledger.Later() {
		ends, err := v.s.Bus.HighWatermarks(ctx, topic)
		if err != nil {
			v.report.Add(verify.AreaWarehouse, audit.Phantom, topic, "rows name this topic: %v", err)
			continue
		}
		for p, last := range parts {
			if last >= ends[p] {
				v.report.Add(verify.AreaWarehouse, audit.Phantom, verify.Place{Topic: topic, Partition: p, Offset: last}.String(),
					"rows name this record, and the log ends at %d", ends[p])
			}
		}
	}
	return nil
}

// nameRows reads the log once more for the rows of a few keys.
func (v *verification) nameRows(ctx context.Context, keys []audit.Key) error {
	if len(keys) == 0 {
		return nil
	}
	detail, err := audit.NewDetail(v.auditSettings(), keys)
	if err != nil {
		return err
	}
	defer detail.Release()
	check := newRowCheck(v.run(), detail.Add)
	check.wants = detail.Wants
	scan := v.scan()
	scan.Progress = v.progress("rows that differ", v.cut.Records(scan.From))
	skip := scan.Skip
	scan.Skip = func(topic string, key []byte) bool {
		return (skip != nil && skip(topic, key)) || !detail.Wants(key)
	}
	if err := scan.Run(ctx, v.s.Bus, check); err != nil {
		return err
	}
	found, err := detail.Compare(ctx, v.s.warehouse, keys)
	if err != nil {
		return err
	}
	for _, d := range found {
		if v.retried(d) {
			continue
		}
		v.report.Add(verify.AreaWarehouse, d.Kind, d.Table, "%s", strings.TrimPrefix(d.String(), d.Table+" "))
	}
	return nil
}

// retried reports whether a row is that of a record's retry, or of the record itself: which of the two depends on whether
// the sink that met the first one could read it.
func (v *verification) retried(d audit.RowDifference) bool {
	if d.Kind != audit.Changed || d.Columns != 1 || d.Column != "kafka_offset" {
		return false
	}
	held := verify.Place{Topic: d.Topic, Partition: d.Partition, Offset: d.HeldAt}
	logged := verify.Place{Topic: d.Topic, Partition: d.Partition, Offset: d.Offset}
	return v.rows.retries[held] == logged || v.rows.retries[logged] == held
}
