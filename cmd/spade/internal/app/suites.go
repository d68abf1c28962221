package app

import (
	"cmp"
	"context"
	"encoding/hex"
	"fmt"
	"os"
	"slices"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/examples/suites"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/producers/evaluator"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// LoadTasks reads the held-out tasks of suite folders, and names each suite with the digest of its sources.
func LoadTasks(folders []string) (tasks []evaluator.Task, names []string, err error) {
	seen := map[string]bool{}
	for _, folder := range folders {
		all, err := suites.Load(os.DirFS(folder))
		if err != nil {
			return nil, nil, fmt.Errorf("suites in %s: %w", folder, err)
		}
		for _, suite := range all {
			// The ids of evaluations are made of names: two suites of one name would be one.
			if seen[suite.Name] {
				return nil, nil, fmt.Errorf("suites in %s: %q is the name of another suite as well", folder, suite.Name)
			}
			seen[suite.Name] = true
			names = append(names, suite.Name+"@"+suite.SHA256)
			sum, err := hex.DecodeString(suite.SHA256)
			if err != nil {
				return nil, nil, fmt.Errorf("digest of suite %s: %w", suite.Name, err)
			}
			for _, t := range suite.Tasks {
				tasks = append(tasks, evaluator.Task{
					Suite: suite.Name, SuiteSHA256: sum, ID: t.ID, Category: t.Category,
					Runtime: cmp.Or(gym.RuntimeOfFile(t.File), gym.RuntimeStarlark), Code: t.Code,
				})
			}
		}
	}
	slices.Sort(names)
	return tasks, names, nil
}

// suiteScores reads the evaluations of a run's first and last policy version.
func suiteScores(ctx context.Context, log *bus.Client, run runs.Run) ([]SuiteScore, error) {
	if len(run.Config.GetSuites()) == 0 {
		return nil, nil
	}
	type key struct{ suite, category string }
	type sums struct {
		before, after float64
		n, m          int
	}
	last := int64(run.Config.GetIterations())
	totals := map[key]*sums{}
	seen := map[uuid.UUID]bool{}
	var all []*spadepb.EvaluationCompleted
	err := log.Read(ctx, topics.Evaluations, run.Positions[topics.Evaluations], nil, func(ev event.Event) error {
		if !topics.OfRun(ev.Key, run.ID) || seen[ev.ID] {
			return nil
		}
		seen[ev.ID] = true
		msg, err := ev.Message()
		if m, ok := msg.(*spadepb.EvaluationCompleted); err == nil && ok {
			all = append(all, m)
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read evaluations: %w", err)
	}
	for _, m := range all {
		k := key{m.GetSuite(), m.GetCategory()}
		if totals[k] == nil {
			totals[k] = &sums{}
		}
		switch m.GetPolicyVersion() {
		case 0:
			totals[k].before += m.GetReward()
			totals[k].n++
		case last:
			totals[k].after += m.GetReward()
			totals[k].m++
		}
	}
	var scores []SuiteScore
	for k, s := range totals {
		scores = append(scores, SuiteScore{
			Suite: k.suite, Category: k.category, Episodes: s.m,
			Before: s.before / float64(max(1, s.n)), After: s.after / float64(max(1, s.m)),
		})
	}
	slices.SortFunc(scores, func(a, b SuiteScore) int {
		return cmp.Or(cmp.Compare(a.Suite, b.Suite), cmp.Compare(a.Category, b.Category))
	})
	return scores, nil
}
