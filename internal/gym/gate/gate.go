package gate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/portable"
	"github.com/seed256f7767/spade/internal/seed"
)

// The defaults of Options.
const (
	defaultSeeds          = 4
	defaultRandomEpisodes = 4
	defaultMaxRandom      = 0.75
	defaultTimeLimit      = 2 * time.Minute
)

func (o Options) withDefaults() Options {
	if len(o.Seeds) == 0 {
		for i := range defaultSeeds {
			o.Seeds = append(o.Seeds, seed.Derive(o.Seed, seed.Key{Purpose: "gate.seed", Index: i}))
		}
		for i := range mostCrowdSeeds {
			o.Crowd = append(o.Crowd, seed.Derive(o.Seed, seed.Key{Purpose: "gate.crowd", Index: i}))
		}
	}
	if o.RandomEpisodes <= 0 {
		o.RandomEpisodes = defaultRandomEpisodes
	}
	if o.TimeLimit <= 0 {
		o.TimeLimit = defaultTimeLimit
	}
	if o.MaxRandom <= 0 {
		o.MaxRandom = defaultMaxRandom
	}
	return o
}

// Check judges a source. It opens one worker after the other, never two at a time.
func Check(ctx context.Context, pool *gym.Pool, src gym.Source, opts Options) (Report, error) {
	opts = opts.withDefaults()
	report := Report{Stats: Stats{SourceBytes: len(src.Code), Seeds: len(opts.Seeds)}}
	j := &judge{opts: opts, report: &report}

	first, err := pool.Open(ctx, src)
	report.Tier = pool.TierOf(src.Runtime) // Python's is known once a worker was opened
	var meta gym.Meta
	if err == nil {
		meta = first.Meta()
	}
	if !j.opened(src, err) {
		if err != nil {
			return report, notSource(err)
		}
		return report, first.Close()
	}
	report.Meta = meta
	s := &session{opts: opts, src: src, meta: meta, clock: startClock(src, opts)}
	err = errors.Join(s.play(ctx, first), first.Close())
	if err != nil {
		return report, fmt.Errorf("play: %w", err)
	}
	s.measure(&report.Stats)
	report.Nondeterministic = s.nondeterministic() || s.late() != ""
	if !j.pass(StageReset, s.resetFault()) || !j.pass(StageRun, cmp.Or(s.runFault(), s.late(), s.toldFault())) {
		return report, nil
	}
	diverged, err := s.playAgain(ctx, pool)
	if errors.Is(err, errLate) {
		diverged, err = s.late(), nil
	}
	if err != nil {
		return report, fmt.Errorf("play again: %w", err)
	}
	report.Nondeterministic = report.Nondeterministic || s.late() != ""
	j.pass(StageDeterministic, diverged)
	if opts.BothRuntimes {
		if err := s.inOtherRuntime(ctx, pool, j); err != nil {
			return report, fmt.Errorf("play in the other runtime: %w", err)
		}
	}
	s.judge(j)
	report.Accepted = report.Stage == ""
	return report, nil
}

// opened judges the stages that Open has been through, in their order, and says whether to go on.
func (j *judge) opened(src gym.Source, err error) bool {
	var refused *gym.SourceError
	if err != nil && !errors.As(err, &refused) {
		return false
	}
	for _, stage := range []string{StageSize, StageParse, StagePortable, StageLoad, StageMeta} {
		if stage == StagePortable {
			if j.opts.Portable && !j.pass(stage, portableFault(src)) {
				return false
			}
			continue
		}
		reason := ""
		if refused != nil && refused.Stage == stage {
			reason = cmp.Or(refused.Fault.Error, "no reason was given")
			j.report.Nondeterministic = refused.Fault.Nondeterministic
		}
		if !j.pass(stage, reason) {
			return false
		}
	}
	return refused == nil || j.pass(StageLoad, refused.Error()) // at a stage that is none of these
}

func notSource(err error) error {
	var refused *gym.SourceError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

func portableFault(src gym.Source) string {
	findings := portable.Check(src.Code)
	if len(findings) == 0 {
		return ""
	}
	if len(findings) == 1 {
		return findings[0].String()
	}
	return fmt.Sprintf("%s (and %d more)", findings[0], len(findings)-1)
}
