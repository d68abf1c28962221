package corpus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// progressEvery is the least time between two reports of progress.
const progressEvery = 100 * time.Millisecond

// ErrUnknownDocument says that the log holds no such document.
var ErrUnknownDocument = errors.New("unknown document")

// Ingester appends documents. One call of its methods at a time.
type Ingester struct {
	cfg Config
	set Settings
}

// New makes an Ingester. It does no I/O.
func New(cfg Config, set Settings) (*Ingester, error) {
	if err := cfg.Validate(); err != nil {
		return nil, fmt.Errorf("corpus configuration: %w", err)
	}
	if set.Appender == nil {
		return nil, errors.New("corpus: no appender")
	}
	if set.Known == nil {
		set.Known = &Index{}
	}
	if set.Logger == nil {
		set.Logger = slog.New(slog.DiscardHandler)
	}
	return &Ingester{cfg: cfg, set: set}, nil
}

// Add ingests files and folders. The error is of what ended the ingestion early: a cancelled context, or an append that
// failed; what was acknowledged before stays, the Summary counts it, and adding again goes on from there. Whatever is
// wrong with single files is in the Summary alone.
func (g *Ingester) Add(ctx context.Context, paths ...string) (Summary, error) {
	found, err := list(ctx, paths)
	if err != nil {
		return Summary{}, fmt.Errorf("list corpus: %w", err)
	}
	a := newAddition(g, found)
	err = a.files(ctx, found.files)
	if err == nil {
		err = a.batch.flush(ctx)
	}
	err = errors.Join(err, found.close())
	a.settle()
	a.report(true)
	g.set.Logger.Info("corpus added", "files", a.sum.Files, "documents", a.sum.Documents, "chunks", a.sum.Chunks,
		"problems", a.sum.ProblemCount)
	return a.sum, err
}

// Withdraw appends that a document, or one chunk of one, was withdrawn: projections drop its text, no later run samples it,
// and adding it again does nothing. Given the id of a whole document it withdraws all its chunks. It returns how many
// were withdrawn now; withdrawing twice is no error. The error is of class ErrUnknownDocument when the log has no such
// document.
func (g *Ingester) Withdraw(ctx context.Context, id uuid.UUID, reason string) (int, error) {
	var events []event.Event
	var payloads []*spadepb.DocumentWithdrawn
	known := false
	for _, e := range g.set.Known.Entries() {
		if e.ID != id && e.Parent != id {
			continue
		}
		known = true
		if e.Withdrawn {
			continue
		}
		msg := &spadepb.DocumentWithdrawn{DocumentId: e.ID[:], Reason: reason}
		ev, err := event.New(e.ID.String(), e.ID, 0, msg, g.observed(time.Now()))
		if err != nil {
			return 0, err
		}
		events, payloads = append(events, ev), append(payloads, msg)
	}
	if !known {
		return 0, fmt.Errorf("document %s: %w", id, ErrUnknownDocument)
	}
	if len(events) == 0 {
		return 0, nil
	}
	if err := g.set.Appender.Append(ctx, events...); err != nil {
		return 0, fmt.Errorf("append withdrawals: %w", err)
	}
	for _, msg := range payloads {
		g.set.Known.withdrawn(msg)
	}
	return len(events), nil
}

func (g *Ingester) observed(started time.Time) *spadepb.Observed {
	if g.set.Stamp == nil {
		return nil
	}
	return g.set.Stamp(started)
}

// addition is one call of Add.
type addition struct {
	g       *Ingester
	batch   batcher
	sum     Summary
	prog    Progress
	pending map[uuid.UUID]struct{} // chunks given to the batcher in this call
	last    time.Time              // of the last report
}

func newAddition(g *Ingester, found *listing) *addition {
	a := &addition{
		g:       g,
		batch:   batcher{appender: g.set.Appender, index: g.set.Known, stamp: g.set.Stamp},
		pending: map[uuid.UUID]struct{}{},
	}
	a.sum.Skipped = skippedList(found.skipped)
	for _, p := range found.problems {
		a.sum.problem(p)
	}
	a.prog.FilesTotal = len(found.files)
	for _, c := range found.files {
		a.prog.BytesTotal += c.size
	}
	return a
}

// files reads every file in order.
func (a *addition) files(ctx context.Context, files []candidate) error {
	for _, c := range files {
		if err := ctx.Err(); err != nil {
			return err
		}
		a.prog.Current = c.source
		a.report(false)
		before := a.prog.Bytes
		if err := a.file(ctx, c); err != nil {
			return err
		}
		a.prog.Files++
		a.prog.Bytes = before + c.size
	}
	return nil
}

// file reads one file.
func (a *addition) file(ctx context.Context, c candidate) error {
	f, size, err := c.openFile()
	if err != nil {
		a.sum.problem(&Problem{Path: c.source, Class: ErrUnreadable, Cause: err})
		return nil
	}
	started := time.Now()
	in := input{source: c.source, size: size, file: counted{file: f, add: a.read}}
	err = c.format.read(ctx, a.g.cfg, in, sink{
		doc:     func(d document) error { return a.document(ctx, d, started) },
		problem: a.sum.problem,
	})
	if err != nil {
		return errors.Join(err, f.Close())
	}
	a.sum.Files++
	a.sum.FileBytes += size
	if err := f.Close(); err != nil {
		a.sum.problem(&Problem{Path: c.source, Class: ErrUnreadable, Cause: withoutPath(err)})
	}
	return nil
}

// document passes on the chunks of a document that the log does not hold.
func (a *addition) document(ctx context.Context, d document, started time.Time) error {
	a.sum.Documents++
	a.prog.Documents++
	added, withdrawn := 0, 0
	for _, c := range d.chunks(a.g.cfg.ChunkMin, a.g.cfg.ChunkMax) {
		e, known := a.g.set.Known.Find(c.id)
		if !e.Withdrawn {
			a.sum.IDs = append(a.sum.IDs, c.id)
		}
		if _, pending := a.pending[c.id]; pending || known {
			a.sum.ChunksKnown++
			if e.Withdrawn {
				withdrawn++
			}
			continue
		}
		added++
		a.pending[c.id] = struct{}{}
		if err := a.batch.add(ctx, c, started); err != nil {
			return err
		}
	}
	switch {
	case added > 0:
		a.sum.Added++
	case withdrawn > 0:
		a.sum.Withdrawn++
	default:
		a.sum.Known++
	}
	return nil
}

// settle counts the chunks that were acknowledged.
func (a *addition) settle() {
	for id := range a.pending {
		if e, ok := a.g.set.Known.Find(id); ok {
			a.sum.Chunks++
			a.sum.Bytes += int64(e.Bytes)
		}
	}
	a.prog.Added = a.sum.Chunks
	a.prog.Current = ""
}

// read counts bytes of the file being read.
func (a *addition) read(n int) {
	a.prog.Bytes += int64(n)
	a.report(false)
}

// report calls the progress function, unless it was called a moment ago.
func (a *addition) report(final bool) {
	if a.g.set.Progress == nil || !final && time.Since(a.last) < progressEvery {
		return
	}
	a.last = time.Now()
	p := a.prog
	p.Problems = a.sum.ProblemCount
	p.Bytes = min(p.Bytes, p.BytesTotal)
	if !final {
		p.Added = len(a.pending) - len(a.batch.events)
	}
	a.g.set.Progress(p)
}

// counted tells how much of a file was read. Parquet is read from several places, which may overlap a little.
type counted struct {
	file
	add func(n int)
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.file.Read(p)
	c.add(n)
	return n, err
}

func (c counted) ReadAt(p []byte, off int64) (int, error) {
	n, err := c.file.ReadAt(p, off)
	c.add(n)
	return n, err
}

var _ io.ReaderAt = counted{}
