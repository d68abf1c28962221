package app

import (
	"context"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/consumers/verify"
	"github.com/seed256f7767/spade/consumers/warehouse/audit"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/digest"
	"github.com/seed256f7767/spade/schemas/topics"
)

// VerifyOptions is what is verified.
type VerifyOptions struct {
	// Run is the run that counts; nil: all of the log.
	Run *runs.Run
	// Only are areas of package verify; nil: all.
	Only []string
	// AsIs compares what is there now: no projection is begun, brought up to date or waited for, and nothing is written.
	AsIs bool
	// Progress is told what is being read, how far, and of how much; a total of 0 is not known. It may be nil.
	Progress func(what string, done, total int64)
}

func (o VerifyOptions) has(area string) bool {
	return len(o.Only) == 0 || slices.Contains(o.Only, area)
}

func (o VerifyOptions) run() uuid.UUID {
	if o.Run == nil {
		return uuid.Nil
	}
	return o.Run.ID
}

func (o VerifyOptions) progress(what string, total int64) func(int64) {
	return func(done int64) {
		if o.Progress != nil {
			o.Progress(what, done, max(done, total))
		}
	}
}

// Verification is how the projections and the checkpoints compare with the log, and the log with itself.
type Verification struct {
	Log         *digest.Log // of the run; nil when all were verified
	Counts      verify.Counts
	Runs        []verify.RunState
	Tables      []audit.Count
	Keys        int // that rows were compared by
	Memory      MemoryCounts
	Checkpoints CheckpointCounts
	Letters     []verify.Letter
	// Behind says how far a projection has not come, although, unless as it is, it was waited for; what it lacks from there on is no difference,
	// and not all was compared.
	Behind []string
	// AsIs says that the projections were left as they were.
	AsIs bool
	// Live says that other processes fill the projections meanwhile.
	Live bool

	Differences []verify.Finding // none when everything is as it should be; the first of each kind
	Total       int              // of differences
	Sums        []verify.Sum
}

// MemoryCounts is what was compared in the vector store.
type MemoryCounts struct {
	Environments int64 `json:"environments"`
	Documents    int64 `json:"documents"`
	Withdrawn    int64 `json:"withdrawn_documents"`
	Pending      int64 `json:"pending"`
}

// CheckpointCounts is which states of policies were looked at.
type CheckpointCounts struct {
	Inline int64 `json:"inline"`
	Stored int64 `json:"stored"`
	Bytes  int64 `json:"bytes"`
}

// Verify compares everything of one run with its log.
func (s *Services) Verify(ctx context.Context, run runs.Run) (Verification, error) {
	return s.VerifyAll(ctx, VerifyOptions{Run: &run})
}

// VerifyAll compares what the options name with the log. Projections that no process fills are brought up to date first;
// where other processes fill them they are waited for while they come nearer, and compared as far as they have come. As they
// are, they are compared as far as they have come.
func (s *Services) VerifyAll(ctx context.Context, o VerifyOptions) (Verification, error) {
	v := &verification{s: s, VerifyOptions: o, report: &verify.Report{}, withdrawn: verify.Withdrawals{}, redacted: map[uuid.UUID]int64{}}
	defer v.release()
	if err := v.verify(ctx); err != nil {
		return Verification{}, err
	}
	return v.result(), nil
}

// verification is one call of VerifyAll.
type verification struct {
	VerifyOptions
	s         *Services
	report    *verify.Report
	cut       verify.Cut
	state     projected
	withdrawn verify.Withdrawals
	redacted  map[uuid.UUID]int64 // documents whose text the sink removes, by the record that says so

	lag         *lag // the warehouse's
	log         *verify.RunLog
	digest      *digest.Log
	ledger      *audit.Ledger
	rows        *rowCheck
	memory      *verify.Memory
	checkpoints *verify.Checkpoints
}

func (v *verification) release() {
	if v.ledger != nil {
		v.ledger.Release()
	}
}

func (v *verification) verify(ctx context.Context) (err error) {
	if v.cut, err = verify.Ends(ctx, v.s.Bus); err != nil {
		return fmt.Errorf("find the end of the log: %w", err)
	}
	if v.has(verify.AreaWarehouse) || v.has(verify.AreaMemory) {
		if v.state, err = v.s.project(ctx, v.cut, v.AsIs); err != nil {
			return err
		}
		if err := v.findWithdrawn(ctx); err != nil {
			return err
		}
		// What the projections could not apply on their way to the cut is in the dead letters now.
		if v.cut.Ends[topics.DeadLetters], err = v.s.Bus.HighWatermarks(ctx, topics.DeadLetters); err != nil {
			return err
		}
	}
	checks, err := v.checks()
	if err != nil {
		return err
	}
	scan := v.scan()
	scan.Progress = v.progress("log", v.cut.Records(scan.From))
	if err := scan.Run(ctx, v.s.Bus, checks...); err != nil {
		return err
	}
	return v.finish(ctx)
}

// scan is the reading of what counts.
func (v *verification) scan() verify.Scan {
	scan := verify.Scan{Cut: v.cut}
	if v.Run == nil {
		return scan
	}
	scan.From = v.Run.Positions
	scan.Skip = func(topic string, key []byte) bool {
		return topic != topics.Documents && topic != topics.DeadLetters && !topics.OfRun(string(key), v.Run.ID)
	}
	return scan
}

// findWithdrawn reads the documents once for what was withdrawn, also after the cut.
func (v *verification) findWithdrawn(ctx context.Context) error {
	now, err := v.s.Bus.HighWatermarks(ctx, topics.Documents)
	if err != nil {
		return err
	}
	scan := verify.Scan{Topic: []string{topics.Documents}, Cut: verify.Cut{Ends: verify.Positions{topics.Documents: now}}}
	redacted, release, err := redactions(v.redacted)
	if err != nil {
		return err
	}
	defer release()
	return scan.Run(ctx, v.s.Bus, v.withdrawn, redacted)
}

// checks makes the checks of one scan.
func (v *verification) checks() ([]verify.Check, error) {
	v.log = verify.NewRunLog(v.run(), v.cut, v.report)
	checks := []verify.Check{v.log}
	if v.Run != nil {
		v.digest = digest.New(v.Run.ID)
		checks = append(checks, digestCheck{v.digest})
	}
	if v.has(verify.AreaWarehouse) {
		var err error
		if v.ledger, err = audit.NewLedger(v.auditSettings()); err != nil {
			return nil, err
		}
		v.rows = newRowCheck(v.run(), v.ledger.Add)
		v.lag = &lag{at: v.state.warehouse}
		checks = append(checks, v.rows, v.lag)
	}
	if v.has(verify.AreaMemory) {
		v.memory = verify.NewMemory(v.memorySettings())
		checks = append(checks, v.memory)
	}
	if v.has(verify.AreaCheckpoints) {
		v.checkpoints = &verify.Checkpoints{Only: v.run(), Report: v.report}
		if v.s.checkpoints != nil {
			v.checkpoints.Store = v.s.checkpoints
		}
		checks = append(checks, v.checkpoints)
	}
	return checks, nil
}

func (v *verification) auditSettings() audit.Settings {
	set := audit.Settings{Run: v.run(), Ends: v.state.warehouse, Withdrawn: v.redacted}
	if v.s.Config.Embeddings.URL == "" {
		set.Embedder = rowEmbedder{v.s.Embedder}
	}
	return set
}

func (v *verification) memorySettings() verify.MemorySettings {
	environments, documents := v.s.memory.Collections()
	set := verify.MemorySettings{
		Only: v.run(), Environments: environments, Documents: documents, Points: v.s.Vectors,
		Projected: v.state.memory, Cut: v.cut.Ends, Withdrawn: v.withdrawn, Report: v.report,
	}
	if v.s.Config.Embeddings.URL == "" {
		set.Embedder = v.s.Embedder
	}
	if v.Run != nil {
		pinned := make(map[uuid.UUID]bool, len(v.Run.Documents))
		for _, id := range v.Run.Documents {
			pinned[id] = true
		}
		set.Wanted = func(id uuid.UUID) bool { return pinned[id] }
	}
	return set
}

// finish judges what the scan gathered.
func (v *verification) finish(ctx context.Context) error {
	if v.has(verify.AreaLog) {
		v.log.Finish()
	}
	if v.ledger != nil {
		if err := v.finishRows(ctx); err != nil {
			return err
		}
	}
	if v.memory != nil {
		now, err := verify.Ends(ctx, v.s.Bus)
		if err != nil {
			return err
		}
		if err := v.memory.Finish(ctx, now.Ends); err != nil {
			return fmt.Errorf("read the memory: %w", err)
		}
	}
	return nil
}

func (v *verification) result() Verification {
	out := Verification{
		Log: v.digest, Counts: v.log.Counts, Runs: v.log.Runs(), Letters: v.log.DeadLetters(),
		Behind: v.behind(), Live: v.state.live, AsIs: v.AsIs,
		Differences: v.report.Findings(), Total: v.report.Total(), Sums: v.report.Sums(),
	}
	if v.ledger != nil {
		out.Tables, out.Keys = v.ledger.Counts(), v.ledger.Keys()
	}
	if m := v.memory; m != nil {
		out.Memory = MemoryCounts{m.Environs, m.Docs, m.Gone, m.Pending}
	}
	if c := v.checkpoints; c != nil {
		out.Checkpoints = CheckpointCounts{c.Inline, c.Stored, c.Bytes}
	}
	return out
}

// behind says what the projections have not come to.
func (v *verification) behind() (all []string) {
	if v.lag != nil && v.lag.events > 0 {
		all = append(all, fmt.Sprintf("the warehouse has not come to the last %d events of the log", v.lag.events))
	}
	if v.memory != nil && v.memory.Pending > 0 {
		all = append(all, fmt.Sprintf("the memory has not come to %d of its points", v.memory.Pending))
	}
	return all
}

// digestCheck adds what a scan reads to a digest.
type digestCheck struct{ log *digest.Log }

// Add implements verify.Check.
func (c digestCheck) Add(_ context.Context, e *verify.Entry) error {
	if e.ID != uuid.Nil {
		c.log.Add(e.Event)
	}
	return nil
}

// Partition implements verify.Check.
func (digestCheck) Partition(context.Context) error { return nil }
