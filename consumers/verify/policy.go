package verify

import (
	"bytes"
	"maps"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// policy is the version line of a run.
type policy struct {
	updates map[int64]update // by from
	batches map[uuid.UUID]string
}

type update struct {
	to      int64
	batches [][]byte
}

func newPolicy() policy {
	return policy{updates: map[int64]update{}, batches: map[uuid.UUID]string{}}
}

func (p *policy) update(m *spadepb.PolicyUpdated) {
	if _, known := p.updates[m.GetPolicyFrom()]; !known {
		p.updates[m.GetPolicyFrom()] = update{to: m.GetPolicyTo(), batches: m.GetBatchIds()}
	}
}

// judgePolicy: the versions form one line, each with its batches, to the last version of a finished run.
func (p *policy) judgePolicy(f *fold) {
	for _, from := range slices.Sorted(maps.Keys(p.updates)) {
		u := p.updates[from]
		id := ids.Policy(f.id, from).String()
		if u.to != from+1 {
			f.report.Add(AreaLog, "bad update", id, "PolicyUpdated goes from version %d to %d", from, u.to)
		}
		if _, ok := p.updates[from-1]; !ok && from >= 0 {
			f.report.Add(AreaLog, "missing update", ids.Policy(f.id, from-1).String(), "no PolicyUpdated from version %d, and one from %d", from-1, from)
		}
		p.judgeBatches(f, from, u)
	}
	if !f.ended() {
		return
	}
	for from := int64(-1); from < int64(f.run.Config.GetIterations()); from++ {
		_, ok := p.updates[from]
		_, next := p.updates[from+1]
		if !ok && !next {
			f.report.Add(AreaLog, "missing update", ids.Policy(f.id, from).String(), "no PolicyUpdated from version %d", from)
		}
	}
}

// judgeBatches: an update names its batches, and they are there.
func (p *policy) judgeBatches(f *fold, from int64, u update) {
	for _, b := range u.batches {
		if len(b) != 16 || p.batches[uuid.UUID(b)] == "" {
			f.report.Add(AreaLog, "missing batch", hexID(b), "PolicyUpdated from version %d names it, and there is no BatchBuilt", from)
		}
	}
	if from < 0 {
		return
	}
	agent := ids.Batch(f.id, int(from), "agent")
	if !slices.ContainsFunc(u.batches, func(b []byte) bool { return bytes.Equal(b, agent[:]) }) {
		f.report.Add(AreaLog, "missing batch", agent.String(), "PolicyUpdated from version %d does not name the agent's batch", from)
	}
}

func hexID(b []byte) string {
	if len(b) == 16 {
		return uuid.UUID(b).String()
	}
	return "(no id)"
}

// evaluations is which episodes of held-out tasks there are.
type evaluations struct {
	n     int
	tasks map[string]map[uuid.UUID]struct{} // by suite and task: the ids of its episodes
}

func newEvaluations() evaluations {
	return evaluations{tasks: map[string]map[uuid.UUID]struct{}{}}
}

func (s *evaluations) evaluated(m *spadepb.EvaluationCompleted) {
	key := m.GetSuite() + "\x00" + m.GetTaskId()
	if s.tasks[key] == nil {
		s.tasks[key] = map[uuid.UUID]struct{}{}
	}
	s.tasks[key][uuid.UUID(m.GetEvaluationId())] = struct{}{}
	s.n++
}

// judgeEvaluations: a task that was played at one version was played on every env seed at every version that a finished run
// evaluates, and every suite was played.
func (s *evaluations) judgeEvaluations(f *fold) {
	if !f.ended() {
		return
	}
	played := map[string]bool{}
	for _, key := range slices.Sorted(maps.Keys(s.tasks)) {
		suite, task, _ := strings.Cut(key, "\x00")
		played[suite] = true
		for _, version := range evaluatedVersions(f) {
			for i := range f.run.Config.GetEvalSeeds() {
				id := ids.Evaluation(f.id, version, suite, task, int(i))
				if _, ok := s.tasks[key][id]; !ok {
					f.report.Add(AreaLog, "missing evaluation", id.String(), "suite %s, task %s, seed %d at version %d", suite, task, i, version)
				}
			}
		}
	}
	for _, suite := range f.run.Config.GetSuites() {
		if name, _, _ := strings.Cut(suite, "@"); !played[name] {
			f.report.Add(AreaLog, "missing evaluation", name, "no episode of the suite")
		}
	}
}

// evaluatedVersions are the versions that a run evaluates: the first, the last, and every eval_every-th between them.
func evaluatedVersions(f *fold) []int64 {
	if len(f.run.Config.GetSuites()) == 0 {
		return nil
	}
	last := int64(f.run.Config.GetIterations())
	versions := []int64{0}
	if every := int64(f.run.Config.GetEvalEvery()); every > 0 {
		for v := every; v < last; v += every {
			versions = append(versions, v)
		}
	}
	return append(versions, last)
}
