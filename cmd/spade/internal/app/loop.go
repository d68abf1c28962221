package app

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/producers/corpus"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// nativePlugin is the trainer plugin that is used when none is named; it lies beside this program.
const nativePlugin = "spade-plugin-native"

// shownProblems is how many problems of a corpus a run names.
const shownProblems = 10

// RunLoop does what `spade run` does: it ingests the corpus, starts the projections, the workers and the trainer plugin,
// and runs the run that the configuration describes.
func (s *Services) RunLoop(
	ctx context.Context, l config.Loaded, view View, ingesting func(corpus.Progress),
) (summary Summary, err error) {
	tasks, suites, err := LoadTasks(l.Run.Suites)
	if err != nil {
		return Summary{}, err
	}
	fixed, documents, err := s.designs(ctx, l, ingesting)
	if err != nil {
		return Summary{}, err
	}
	if s.Pool, err = s.startPool(ctx, s.Config, fixed.sets()); err != nil {
		return Summary{}, err
	}
	if s.tier, err = tiers(ctx, s.Pool, probes(l.Run, fixed)); err != nil {
		return Summary{}, err
	}
	if err := s.StartSinks(ctx); err != nil {
		return Summary{}, err
	}
	b, err := s.launch(ctx, l)
	if err != nil {
		return Summary{}, err
	}
	defer func() { err = errors.Join(err, b.Shutdown(context.WithoutCancel(ctx))) }()
	run, resumed, err := openRun(ctx, s.Bus, s.spec(l, b, documents, suites, fixed), s.deployment, s.tier)
	if err != nil {
		return Summary{}, err
	}
	c := newCrew(s, run)
	c.pool, c.pooled, c.tasks = s.Pool, fixed.Environments, tasks
	c.use(b)
	return c.Run(ctx, resumed, view)
}

// Submit opens the run that the configuration describes, for workers to work on, and returns it. A run that is there
// already is left as it is.
func (s *Services) Submit(
	ctx context.Context, l config.Loaded, ingesting func(corpus.Progress),
) (run runs.Run, there bool, err error) {
	fixed, documents, err := s.designs(ctx, l, ingesting)
	if err != nil {
		return run, false, err
	}
	_, suites, err := LoadTasks(l.Run.Suites)
	if err != nil {
		return run, false, err
	}
	b, err := s.launch(ctx, l)
	if err != nil {
		return run, false, err
	}
	defer func() { err = errors.Join(err, b.Shutdown(context.WithoutCancel(ctx))) }()
	return openRun(ctx, s.Bus, s.spec(l, b, documents, suites, fixed), s.deployment, "")
}

// launch starts the configured plugin.
func (s *Services) launch(ctx context.Context, l config.Loaded) (*brain, error) {
	command, err := pluginCommand(l.Plugin.Command)
	if err != nil {
		return nil, err
	}
	b, err := launch(ctx, command, s.Log)
	if err != nil {
		return nil, err
	}
	b.told = s.told
	return b, nil
}

// spec is the run that the configuration describes.
func (s *Services) spec(l config.Loaded, b *brain, documents []uuid.UUID, suites []string, fixed FixedPool) runs.Spec {
	name, version := b.Name()
	return runs.Spec{
		Name: l.Run.Name, Seed: l.Run.Seed, Documents: documents, Unnamed: len(l.Corpus) == 0,
		Config: l.Semantic(config.Resolved{
			EmbeddingModel: s.Embedder.Model(), EmbeddingDim: s.Embedder.Dim(),
			Plugin: name, PluginVersion: version, Suites: suites, Pool: fixed.Pin,
		}),
	}
}

// designs is what a run's environments come from: a fixed pool, or the documents that the designer is grounded in.
func (s *Services) designs(
	ctx context.Context, l config.Loaded, ingesting func(corpus.Progress),
) (FixedPool, []uuid.UUID, error) {
	if name := l.Run.FixedPool(); name != "" {
		fixed, err := ReadPool(ctx, s.Bus, name)
		return fixed, nil, err
	}
	documents, err := s.documents(ctx, l.Corpus, ingesting)
	return FixedPool{}, documents, err
}

// probes are sources that a run's own will run like: one of the language it designs in, or one of each kind that its pool
// holds.
func probes(r config.Run, fixed FixedPool) []gym.Source {
	if len(fixed.Environments) == 0 {
		return []gym.Source{{Runtime: r.Runtime, Code: smallest}}
	}
	var sources []gym.Source
	seen := map[[2]string]bool{}
	for _, e := range fixed.Environments {
		kind := [2]string{e.Designed.GetRuntime(), e.Designed.GetPackageSet()}
		if !seen[kind] {
			seen[kind] = true
			sources = append(sources, sourceOf(e.Designed))
		}
	}
	return sources
}

// documents ingests the corpus and returns what a run on it may sample; without a corpus, everything that the log holds.
func (s *Services) documents(ctx context.Context, paths []string, ingesting func(corpus.Progress)) ([]uuid.UUID, error) {
	known, err := s.Documents(ctx)
	if err != nil {
		return nil, err
	}
	if len(paths) == 0 {
		if len(known.IDs()) == 0 {
			s.Log.Warn("the log holds no documents, so designs are grounded in none; spade corpus add or --corpus brings some")
		}
		return known.IDs(), nil
	}
	if err := present(paths); err != nil {
		return nil, err
	}
	source := observe.NewSource("corpus")
	ingester, err := corpus.New(corpus.NewDefaultConfig(), corpus.Settings{
		Appender: s.Bus, Known: known, Progress: ingesting, Stamp: source.Stamp, Logger: s.Log,
	})
	if err != nil {
		return nil, err
	}
	sum, err := ingester.Add(ctx, paths...)
	if err != nil {
		return nil, fmt.Errorf("ingest the corpus: %w", err)
	}
	return s.grounding(paths, sum)
}

// present refuses a path that is not there: a run on what is left of the corpus would be another run.
func present(paths []string) error {
	var errs []error
	for _, p := range paths {
		if _, err := os.Stat(p); err != nil {
			errs = append(errs, fmt.Errorf("the corpus: %w", err))
		}
	}
	return errors.Join(errs...)
}

// grounding is what a run may sample of a corpus. Files that cannot be read are named and passed over; a corpus of nothing
// else is refused, since the run would go on without the grounding that was asked for.
func (s *Services) grounding(paths []string, sum corpus.Summary) ([]uuid.UUID, error) {
	for i, p := range sum.Problems {
		if i == shownProblems {
			s.Log.Warn("more of the corpus was passed over; spade corpus add lists it", "problems", sum.ProblemCount-shownProblems)
			break
		}
		s.Log.Warn("a part of the corpus was passed over", "problem", p)
	}
	if len(sum.IDs) == 0 {
		return nil, fmt.Errorf("the corpus: no document was found in %s", strings.Join(paths, ", "))
	}
	return sum.IDs, nil
}

// Documents folds the documents of the log.
func (s *Services) Documents(ctx context.Context) (*corpus.Index, error) {
	index := &corpus.Index{}
	if err := s.Bus.Read(ctx, topics.Documents, nil, nil, index.Apply); err != nil {
		return nil, fmt.Errorf("read documents: %w", err)
	}
	return index, nil
}

// pluginCommand is the configured plugin, or the native one beside this program.
func pluginCommand(command []string) ([]string, error) {
	if len(command) > 0 {
		return command, nil
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	path := filepath.Join(filepath.Dir(self), nativePlugin)
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("the native trainer plugin is not beside this program: build it with `make build`, or set plugin.command: %w", err)
	}
	return []string{path}, nil
}

// loadCheckpoint fetches a state that is not in its event.
func (s *Services) loadCheckpoint(ctx context.Context, ck *spadepb.Checkpoint) ([]byte, error) {
	if s.checkpoints == nil {
		return nil, fmt.Errorf("a checkpoint of %d bytes is not in the log: set checkpoints (SPADE_CHECKPOINTS) to where it is kept",
			ck.GetBytes())
	}
	return s.checkpoints.Load(ctx, ck.GetSha256(), ck.GetBytes())
}
