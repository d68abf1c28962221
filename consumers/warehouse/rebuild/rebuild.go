package rebuild

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/arena"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Stage is how far a rebuild is.
type Stage string

// The stages of a rebuild of the warehouse, in their order.
const (
	Repairing  Stage = "repairing"
	Preparing  Stage = "preparing"
	Filling    Stage = "filling"
	Fencing    Stage = "fencing"
	CatchingUp Stage = "catching up"
	Deciding   Stage = "deciding"
	Switching  Stage = "switching"
	Releasing  Stage = "releasing"
	Dropping   Stage = "dropping"
	Done       Stage = "done"
)

// Progress is how far a rebuild is, or, when it is done, what it did.
type Progress struct {
	Stage   Stage
	Records int64 // of the log that were read
	Total   int64 // records there are to read, as far as that is known
	Events  int64
	Rows    int64 // in the warehouse
	Repeats int64 // events left out because an earlier record had their id
	Dead    int64 // events that cannot be projected
}

// Warehouse rebuilds the warehouse, once.
type Warehouse struct {
	cfg       Config
	set       Settings
	log       *slog.Logger
	catalogue *tables.Catalogue
	database  string // beside
	store     *warehouse.ClickHouse
	at        time.Time // of the insertion of every row
	seen      *filter
	lanes     []*lane
	ids       map[string]string // of topics
	live      bus.Positions     // how far the warehouse was when the rebuild began

	stage                               atomic.Value // Stage
	records, total                      atomic.Int64
	events, rows, repeats, dead, blocks atomic.Int64
}

// New makes a rebuild. It does no I/O.
func New(cfg Config, set Settings) (*Warehouse, error) {
	if err := errors.Join(cfg.Validate(), set.validate()); err != nil {
		return nil, err
	}
	catalogue, err := tables.New()
	if err != nil {
		return nil, err
	}
	var name [4]byte
	_, _ = rand.Read(name[:]) // never fails
	w := &Warehouse{
		cfg: cfg.withDefaults(), set: set, log: set.Logger, catalogue: catalogue, database: besidePrefix + hex.EncodeToString(name[:]),
	}
	if w.log == nil {
		w.log = slog.New(slog.DiscardHandler)
	}
	if w.set.Memory == nil {
		w.set.Memory = arena.New()
	}
	w.store = warehouse.NewClickHouse(set.Conn).Beside(w.database)
	w.stage.Store(Repairing)
	return w, nil
}

// Progress may be called at any time.
func (w *Warehouse) Progress() Progress {
	return Progress{
		Stage: w.stage.Load().(Stage), Records: w.records.Load(), Total: w.total.Load(), Events: w.events.Load(),
		Rows: w.rows.Load(), Repeats: w.repeats.Load(), Dead: w.dead.Load(),
	}
}

var errOther = errors.New("another rebuild has taken over")

// undoFor is how long taking back what was begun may take once the rebuild is broken off.
const undoFor = 30 * time.Second

// Run rebuilds the warehouse and switches to it. When it fails or ctx ends before the switch is decided, the warehouse is as it
// was; after that, the next Run, or Repair, completes the switch.
func (w *Warehouse) Run(ctx context.Context) error {
	for _, step := range []struct {
		stage Stage
		do    func(context.Context) error
	}{
		{Repairing, w.Repair},
		{Preparing, w.prepare},
		{Filling, w.fill},
		{Fencing, w.fence},
		{CatchingUp, w.catchUp},
		{Deciding, w.decide},
		{Switching, func(ctx context.Context) error { return w.exchange(ctx, w.database) }},
		{Releasing, func(ctx context.Context) error { return w.release(ctx, w.seal()) }},
		{Dropping, func(ctx context.Context) error { return w.drop(ctx, w.database) }},
	} {
		w.stage.Store(step.stage)
		w.log.Info("rebuild of the warehouse", "stage", string(step.stage), "database", w.database)
		if err := step.do(ctx); err != nil {
			return w.broken(ctx, step.stage, err)
		}
	}
	w.stage.Store(Done)
	w.log.Info("warehouse rebuilt", "events", w.events.Load(), "rows", w.rows.Load(), "blocks", w.blocks.Load())
	return nil
}

// broken takes back what was begun, as far as nothing was decided.
func (w *Warehouse) broken(ctx context.Context, at Stage, cause error) error {
	cause = fmt.Errorf("rebuild the warehouse: %s: %w", at, cause)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoFor)
	defer cancel()
	if err := w.settle(ctx, w.database, w.seal()); err != nil {
		return fmt.Errorf("%w; what it began could not be taken back, run it again: %w", cause, err)
	}
	return cause
}

// Sealed reports whether a rebuild keeps everybody from writing: for a moment, or because it was killed.
func (w *Warehouse) Sealed(ctx context.Context) (bool, error) { return w.sealed(ctx, sealName) }

// Repair completes or takes away what earlier rebuilds left. No other rebuild or repair may be made at the same time; of one
// that is all the same, as that of a process that was stalled, every later statement fails, because its database has
// another name by then.
func (w *Warehouse) Repair(ctx context.Context) error {
	left, err := w.leftovers(ctx)
	if err != nil {
		return fmt.Errorf("look for earlier rebuilds: %w", err)
	}
	for i, database := range left {
		w.log.Warn("an earlier rebuild did not end", "database", database)
		taken := fmt.Sprintf("%s_%d", w.database, i)
		if err := w.exec(ctx, "RENAME DATABASE %s TO %s", database, taken); err != nil {
			return fmt.Errorf("take over an earlier rebuild: %w", err)
		}
		if err := w.settle(ctx, taken, sealName); err != nil {
			return fmt.Errorf("repair what an earlier rebuild left: %w", err)
		}
	}
	return w.release(ctx, sealName)
}

// settle brings a rebuild to its end: forwards when its switch was decided, else back. Seals of this name are taken off.
func (w *Warehouse) settle(ctx context.Context, database, seal string) error {
	forward, err := w.decided(ctx, database)
	if err != nil {
		return err
	}
	if forward {
		if err := w.exchange(ctx, database); err != nil {
			return err
		}
	}
	if err := w.release(ctx, seal); err != nil {
		return err
	}
	return w.drop(ctx, database)
}

func (w *Warehouse) prepare(ctx context.Context) error {
	if err := w.set.Install(ctx); err != nil {
		return err
	}
	if err := w.create(ctx); err != nil {
		return err
	}
	for _, s := range w.catalogue.Beside(w.database) {
		if err := w.exec(ctx, "%s", s.SQL); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	w.at = time.Now()
	return w.open(ctx)
}

// fence keeps the live writers from writing, and everybody from claiming, until release. The claims that are there are
// forgotten: whoever had one takes it again.
func (w *Warehouse) fence(ctx context.Context) error {
	return w.replaceClaims(ctx, w.catalogue.SealedClaims(tables.Database, tables.ClaimsTable, w.seal()))
}

// release lets writers claim again that a seal keeps from it whose name begins like this.
func (w *Warehouse) release(ctx context.Context, seal string) error {
	sealed, err := w.sealed(ctx, seal)
	if err != nil || !sealed {
		return err
	}
	return w.replaceClaims(ctx, w.catalogue.NewClaims(tables.Database, tables.ClaimsTable))
}

// decide writes the offsets and then, in one block, the names and UUIDs of the tables to switch to.
func (w *Warehouse) decide(ctx context.Context) error {
	if ours, err := w.sealed(ctx, w.seal()); err != nil || !ours {
		return errors.Join(err, errOther)
	}
	if err := w.writeOffsets(ctx); err != nil {
		return err
	}
	err := w.exec(ctx, "CREATE TABLE %s.%s (name String, uuid UUID, position UInt8) ENGINE = MergeTree ORDER BY position", w.database, switchTable)
	if err != nil {
		return err
	}
	// A reader may look at _offsets to see how far the tables are, so it comes last.
	return w.exec(ctx, "INSERT INTO %[1]s.%[2]s SELECT name, uuid, name = '%[3]s' FROM system.tables WHERE database = '%[1]s' AND name != '%[2]s'",
		w.database, switchTable, tables.OffsetsTable)
}

// exchange puts every table of a decided rebuild in the place of the warehouse's. It may be repeated.
func (w *Warehouse) exchange(ctx context.Context, database string) error {
	if err := w.create(ctx); err != nil { // there must be something to exchange with
		return err
	}
	names, err := w.notExchanged(ctx, database)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := w.exec(ctx, "EXCHANGE TABLES %s.%s AND %s.%s", tables.Database, name, database, name); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if names, err = w.notExchanged(ctx, database); err != nil {
		return err
	}
	if len(names) > 0 {
		return fmt.Errorf("%d tables were exchanged back by somebody else, the first is %s", len(names), names[0])
	}
	return nil
}

// drop removes a database beside. Statements that still read its tables go on.
func (w *Warehouse) drop(ctx context.Context, database string) error {
	return w.exec(ctx, "DROP DATABASE IF EXISTS %s", database)
}
