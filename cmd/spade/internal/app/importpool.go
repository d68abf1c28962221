package app

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"unicode/utf8"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/pools"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/producers/designer"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// Import is what to import.
type Import struct {
	Name     string        // of the pool, that is of the run of kind "pool"
	Seed     uint64        // of the gate's randomness
	Entries  []pools.Entry // any order
	Unsolved bool          // accept what has no reference solution
}

// Imported is what an import came to.
type Imported struct {
	RunID    string          `json:"run_id,omitempty"` // empty when nothing was written
	Name     string          `json:"name"`
	Accepted int             `json:"accepted"`
	Rejected int             `json:"rejected"`
	Digest   string          `json:"log_digest,omitempty"` // what a run that draws from the pool pins
	Resumed  bool            `json:"-"`
	Known    bool            `json:"-"` // the log held it all before
	Entries  []ImportedEntry `json:"environments"`
	Absent   []AbsentEntry   `json:"not_importable,omitempty"` // what whole sets and folders have and the log does not get
}

// AbsentEntry is an environment of a package, or a file of a folder, that cannot be imported.
type AbsentEntry struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// ImportedEntry is one environment and its verdict.
type ImportedEntry struct {
	EnvID          string `json:"env_id,omitempty"`
	Name           string `json:"name"`
	Accepted       bool   `json:"accepted"`
	Stage          string `json:"reject_stage,omitempty"`
	Reason         string `json:"reject_reason,omitempty"`
	Title          string `json:"title,omitempty"`
	Kind           string `json:"kind,omitempty"`
	Runtime        string `json:"runtime"`
	Package        string `json:"package,omitempty"`
	PackageVersion string `json:"package_version,omitempty"`
	Tier           string `json:"sandbox_tier,omitempty"`
}

// ImportProgress hears of each environment as its verdict is there. It is called by one goroutine at a time.
type ImportProgress func(done, total int, e ImportedEntry)

// importer puts entries through the gate.
type importer struct {
	Import
	gate     runGate
	parallel int

	mu       sync.Mutex // guards the following and calls of progress
	done     int
	progress ImportProgress
}

// newImporter sorts the entries by name: the place in that order is the slot of the environment.
func newImporter(in Import, pool *gym.Pool, parallel int, progress ImportProgress) (*importer, error) {
	in.Entries = slices.Clone(in.Entries)
	slices.SortFunc(in.Entries, func(a, b pools.Entry) int { return cmp.Compare(a.Name, b.Name) })
	for i, e := range in.Entries {
		if i > 0 && e.Name == in.Entries[i-1].Name {
			return nil, fmt.Errorf("import: two environments are called %s", e.Name)
		}
		if !utf8.ValidString(e.Name) {
			return nil, fmt.Errorf("import: the name %q is not UTF-8", e.Name)
		}
	}
	return &importer{Import: in, gate: runGate{pool}, parallel: max(1, parallel), progress: progress}, nil
}

// pinned are the entries as the run's first event names them.
func (im *importer) pinned() []*spadepb.PoolEntry {
	list := make([]*spadepb.PoolEntry, len(im.Entries))
	for i, e := range im.Entries {
		sum := sha256.Sum256([]byte(e.Source.Code))
		list[i] = &spadepb.PoolEntry{
			Name: e.Name, Runtime: e.Source.Runtime, CodeSha256: sum[:], Package: packageOf(e), PackageVersion: e.Version,
		}
		if bounded(e) {
			list[i].SeedsBounded, list[i].SeedFrom, list[i].SeedTo = true, e.SeedFrom, e.SeedTo
		}
	}
	return list
}

// packageOf is the package that an entry comes from, else the package set that it imports: another set is another content.
func packageOf(e pools.Entry) string { return cmp.Or(e.Package, e.Source.Package) }

func bounded(e pools.Entry) bool { return e.SeedFrom > 0 || e.SeedTo < math.MaxUint64 }

// judge is the gate's verdict about the entry of a slot.
func (im *importer) judge(ctx context.Context, slot int) (designer.Report, error) {
	e := im.Entries[slot]
	return im.gate.judge(ctx, judged{
		src: e.Source, from: e.SeedFrom, to: e.SeedTo, unsolved: im.Unsolved,
		seed: seed.Derive(im.Seed, seed.Key{Purpose: "gate", Slot: slot}),
	})
}

// report tells of a verdict.
func (im *importer) report(e ImportedEntry) {
	im.mu.Lock()
	defer im.mu.Unlock()
	im.done++
	if im.progress != nil {
		im.progress(im.done, len(im.Entries), e)
	}
}

// all runs fn for every slot, as many at once as environments are worked on.
func (im *importer) all(ctx context.Context, fn func(ctx context.Context, slot int) (ImportedEntry, error)) ([]ImportedEntry, error) {
	list := make([]ImportedEntry, len(im.Entries))
	work, ctx := errgroup.WithContext(ctx)
	work.SetLimit(im.parallel)
	for slot := range im.Entries {
		work.Go(func() error {
			e, err := fn(ctx, slot)
			if err != nil {
				return fmt.Errorf("import %s: %w", im.Entries[slot].Name, err)
			}
			list[slot] = e
			im.report(e)
			return nil
		})
	}
	return list, work.Wait()
}

// describe is an entry without its verdict.
func (im *importer) describe(slot int) ImportedEntry {
	e := im.Entries[slot]
	return ImportedEntry{Name: e.Name, Runtime: e.Source.Runtime, Package: packageOf(e), PackageVersion: e.Version}
}

// Judge puts entries through the gate and writes nothing.
func Judge(ctx context.Context, pool *gym.Pool, in Import, parallel int, progress ImportProgress) (Imported, error) {
	im, err := newImporter(in, pool, parallel, progress)
	if err != nil {
		return Imported{}, err
	}
	list, err := im.all(ctx, func(ctx context.Context, slot int) (ImportedEntry, error) {
		r, err := im.judge(ctx, slot)
		e := im.describe(slot)
		e.Accepted, e.Stage, e.Reason = err == nil && r.Stage == "", r.Stage, r.Reason
		e.Title, e.Kind, e.Tier = r.Title, r.Kind, r.Tier
		return e, err
	})
	return sumUp(in.Name, list), err
}

func sumUp(name string, list []ImportedEntry) Imported {
	out := Imported{Name: name, Entries: list}
	for _, e := range list {
		if e.Accepted {
			out.Accepted++
		} else {
			out.Rejected++
		}
	}
	return out
}

// ImportPool writes an import into the log, from wherever the log says it stands, and waits for the warehouse. The same
// import again changes nothing; another content under the same name is refused with runs.ErrDiffers. StartSinks must have
// been called, and Pool set.
func (s *Services) ImportPool(ctx context.Context, in Import, progress ImportProgress) (out Imported, err error) {
	im, err := newImporter(in, s.Pool, s.parallelism(), progress)
	if err != nil {
		return out, err
	}
	spec := runs.Spec{
		Name: in.Name, Seed: in.Seed, Kind: runs.KindPool, Pool: im.pinned(),
		Config: &spadepb.SemanticConfig{MaxStepsBudget: int64(s.Config.Run.MaxStepsBudget), AllowUnsolved: in.Unsolved},
	}
	run, resumed, err := openRun(ctx, s.Bus, spec, s.deployment, s.tier)
	if err != nil {
		return out, err
	}
	held, err := foldImport(ctx, s.Bus, run)
	if err != nil {
		return out, err
	}
	if held.finished == nil {
		if resumed {
			if err := noteResumed(ctx, s.Bus, run); err != nil {
				return out, err
			}
		}
		w := &importWriter{importer: im, run: run, held: held, log: s.Bus, source: observe.NewSource("import")}
		if err := w.write(ctx); err != nil {
			return out, err
		}
	}
	if err := s.awaitWarehouse(ctx); err != nil {
		return out, err
	}
	out, err = s.imported(ctx, run)
	out.Resumed, out.Known = resumed && held.finished == nil, held.finished != nil
	return out, err
}

// imported is what the log says of a finished import.
func (s *Services) imported(ctx context.Context, run runs.Run) (Imported, error) {
	fold, err := foldImport(ctx, s.Bus, run)
	if err != nil {
		return Imported{}, err
	}
	var list []ImportedEntry
	for slot, e := range run.Started.GetPool() {
		env := ids.Env(run.ID, 0, slot, 0)
		v := fold.verdicts[env]
		list = append(list, entryOf(e, env, v))
	}
	out := sumUp(run.Name, list)
	d, err := Digest(ctx, s.Bus, run)
	if err != nil {
		return Imported{}, err
	}
	out.RunID, out.Digest = run.ID.String(), fmt.Sprintf("%x", d.Sum())
	return out, nil
}

func entryOf(e *spadepb.PoolEntry, env uuid.UUID, v importVerdict) ImportedEntry {
	out := ImportedEntry{
		EnvID: env.String(), Name: e.GetName(), Runtime: e.GetRuntime(), Package: e.GetPackage(), PackageVersion: e.GetPackageVersion(),
		Accepted: v.accepted != nil, Tier: v.tier,
	}
	if v.accepted != nil {
		out.Title, out.Kind = v.accepted.GetTitle(), v.accepted.GetKind()
	}
	if v.rejected != nil {
		out.Stage, out.Reason = v.rejected.GetStage(), v.rejected.GetReason()
		out.Title, out.Kind = v.rejected.GetTitle(), v.rejected.GetKind()
	}
	return out
}

// ListEntries is what specs stand for, and what whole sets and folders have that cannot be an entry. workers runs the catalogues
// of packages.
func ListEntries(ctx context.Context, workers pools.Opener, specs []pools.Spec) ([]pools.Entry, []pools.Absent, error) {
	var all []pools.Entry
	var absent []pools.Absent
	var errs []error
	for _, spec := range specs {
		entries, err := pools.List(ctx, workers, spec)
		all, errs = append(all, entries...), append(errs, err)
		if err == nil {
			missing, err := pools.Missing(ctx, workers, spec)
			absent, errs = append(absent, missing...), append(errs, err)
		}
	}
	return all, absent, errors.Join(errs...)
}

// SetsOf are the package sets that specs name and their sources import.
func SetsOf(specs []pools.Spec) []string {
	sets := make([]string, len(specs))
	for i, spec := range specs {
		sets[i] = cmp.Or(spec.Set, spec.Package)
	}
	return sets
}

// OpenImport starts what an import needs of this machine: the workers and the projections.
func (s *Services) OpenImport(ctx context.Context, specs []pools.Spec) (entries []pools.Entry, absent []pools.Absent, err error) {
	if s.Pool, err = s.startPool(ctx, s.Config, SetsOf(specs)); err != nil {
		return nil, nil, err
	}
	if entries, absent, err = ListEntries(ctx, s.Pool, specs); err != nil {
		return nil, nil, err
	}
	if s.tier, err = tiers(ctx, s.Pool, importProbes(entries)); err != nil {
		return nil, nil, err
	}
	return entries, absent, s.StartSinks(ctx)
}

// importProbes is the smallest environment in every language and with every package set that entries need.
func importProbes(entries []pools.Entry) []gym.Source {
	var sources []gym.Source
	for _, e := range entries {
		probe := gym.Source{Runtime: e.Source.Runtime, Code: smallest, Package: e.Source.Package}
		if !slices.Contains(sources, probe) {
			sources = append(sources, probe)
		}
	}
	return sources
}
