package verify

import (
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// fold is what is kept of one run.
type fold struct {
	id       uuid.UUID
	report   *Report
	run      *runs.Run
	finished *spadepb.RunFinished
	closed   map[int32]*spadepb.IterationClosed
	slots    map[slotID]*slot
	envs     map[uuid.UUID]*env
	order    []uuid.UUID // of envs
	policy
	evaluations
}

// slotID is one slot of an iteration.
type slotID struct{ iteration, slot int32 }

type slot struct{ requested, ended bool }

func newFold(run uuid.UUID, report *Report) *fold {
	return &fold{
		id: run, report: report, closed: map[int32]*spadepb.IterationClosed{}, slots: map[slotID]*slot{}, envs: map[uuid.UUID]*env{},
		policy: newPolicy(), evaluations: newEvaluations(),
	}
}

// add folds one event. late: it lies behind the cut of what is over.
func (f *fold) add(e *Entry, late bool) {
	switch m := e.Message.(type) {
	case *spadepb.RunStarted:
		run, err := start(e)
		if err != nil {
			f.report.Add(AreaLog, "bad run", f.id.String(), "%v", err)
			return
		}
		f.run = run
	case *spadepb.RunFinished:
		if !late {
			f.finished = m
		}
	case *spadepb.IterationClosed:
		if !late {
			f.closed[m.GetIteration()] = m
		}
	case *spadepb.DesignRequested:
		f.slot(m.GetIteration(), m.GetSlot()).requested = true
	case *spadepb.BatchBuilt:
		f.batches[uuid.UUID(m.GetBatchId())] = m.GetRole()
	case *spadepb.PolicyUpdated:
		f.update(m)
	case *spadepb.EvaluationCompleted:
		f.evaluated(m)
	default:
		f.addEnv(e)
	}
}

func (f *fold) slot(iteration, number int32) *slot {
	id := slotID{iteration, number}
	s := f.slots[id]
	if s == nil {
		s = &slot{}
		f.slots[id] = s
	}
	return s
}

func (f *fold) name() string {
	if f.run == nil {
		return f.id.String()
	}
	return f.run.Name
}

// over reports whether an iteration has everything it will ever have.
func (f *fold) over(iteration int32) bool {
	return f.closed[iteration] != nil || f.ended()
}

// ended reports whether the run has come to its end; a cancelled one owes nothing.
func (f *fold) ended() bool { return f.finished.GetStatus() == "finished" }

// finish judges the run.
func (f *fold) finish() {
	if f.run == nil {
		f.report.Add(AreaLog, "unknown run", f.id.String(), "the log has events of it and no RunStarted")
		return
	}
	f.judgeSlots()
	for _, id := range f.order {
		f.judgeEnv(id, f.envs[id])
	}
	if f.run.Started.GetKind() == runs.KindPool {
		return
	}
	f.judgeIterations()
	f.judgePolicy(f)
	f.judgeEvaluations(f)
}

// judgeSlots: in an iteration that is over every slot was asked for and ended.
func (f *fold) judgeSlots() {
	if f.run.Started.GetKind() == runs.KindPool {
		for i := range f.run.Started.GetPool() {
			if f.ended() && !f.slot(0, int32(i)).ended {
				f.report.Add(AreaLog, "missing terminal", f.env(0, int32(i)), "entry %d of the import was neither accepted nor rejected", i)
			}
		}
		return
	}
	for k := range f.run.Config.GetIterations() {
		if !f.over(k) {
			continue
		}
		for number := range f.run.Config.GetDesigns() {
			s := f.slot(k, number)
			if !s.requested {
				f.report.Add(AreaLog, "missing request", f.env(k, number), "iteration %d slot %d was never asked for", k, number)
			}
			if !s.ended {
				f.report.Add(AreaLog, "missing terminal", f.env(k, number),
					"iteration %d slot %d ended in neither EnvironmentAccepted nor the last EnvironmentRejected", k, number)
			}
		}
	}
}

// env is the id of a slot's first attempt.
func (f *fold) env(iteration, number int32) string {
	return ids.Env(f.id, int(iteration), int(number), 0).String()
}

// judgeIterations: a finished run closed all of its iterations, with the counts that the log has.
func (f *fold) judgeIterations() {
	if f.ended() {
		for k := range f.run.Config.GetIterations() {
			if f.closed[k] == nil {
				f.report.Add(AreaLog, "missing event", ids.Iteration(f.id, int(k)).String(), "no IterationClosed of iteration %d", k)
			}
		}
	}
	sums := map[int32]*spadepb.IterationClosed{}
	for _, e := range f.envs {
		s := sums[e.iteration]
		if s == nil {
			s = &spadepb.IterationClosed{}
			sums[e.iteration] = s
		}
		e.count(s)
	}
	for _, k := range slices.Sorted(maps.Keys(f.closed)) {
		if s := sums[k]; s != nil {
			f.compareCounts(k, f.closed[k], s)
		}
	}
	f.compareTotals(sums)
}

func (f *fold) compareCounts(k int32, said, have *spadepb.IterationClosed) {
	for _, c := range []struct {
		what       string
		said, have int32
	}{
		{"designed", said.GetDesigned(), have.GetDesigned()},
		{"accepted", said.GetAccepted(), have.GetAccepted()},
		{"rejected", said.GetRejected(), have.GetRejected()},
		{"rollouts completed", said.GetRolloutsCompleted(), have.GetRolloutsCompleted()},
		{"rollouts dropped", said.GetRolloutsDropped(), have.GetRolloutsDropped()},
		{"regrets estimated", said.GetRegretsEstimated(), have.GetRegretsEstimated()},
		{"regrets unavailable", said.GetRegretsUnavailable(), have.GetRegretsUnavailable()},
	} {
		if c.said != c.have {
			f.report.Add(AreaLog, "wrong count", ids.Iteration(f.id, int(k)).String(),
				"IterationClosed %d says %d %s, the log has %d", k, c.said, c.what, c.have)
		}
	}
}

// compareTotals: RunFinished says what the log has.
func (f *fold) compareTotals(sums map[int32]*spadepb.IterationClosed) {
	if !f.ended() {
		return
	}
	var designed, accepted, rejected, rollouts int64
	for _, s := range sums {
		designed += int64(s.GetDesigned())
		accepted += int64(s.GetAccepted())
		rejected += int64(s.GetRejected())
		rollouts += int64(s.GetRolloutsCompleted())
	}
	for _, c := range []struct {
		what       string
		said, have int64
	}{
		{"designed", f.finished.GetDesigned(), designed},
		{"accepted", f.finished.GetAccepted(), accepted},
		{"rejected", f.finished.GetRejected(), rejected},
		{"rollouts", f.finished.GetRollouts(), rollouts},
	} {
		if c.said != c.have {
			f.report.Add(AreaLog, "wrong count", f.id.String(), "RunFinished of %s says %d %s, the log has %d", f.name(), c.said, c.what, c.have)
		}
	}
}

// state sums the run up.
func (f *fold) state() RunState {
	s := RunState{ID: f.id, Name: f.name(), Status: "running", Versions: len(f.updates), Episodes: f.evaluations.n}
	if f.run != nil {
		s.Kind = f.run.Started.GetKind()
	}
	if f.finished != nil {
		s.Status = f.finished.GetStatus()
	}
	for id, slot := range f.slots {
		if slot.requested && !slot.ended && !f.over(id.iteration) {
			s.InFlight.Slots++
		}
	}
	for _, e := range f.envs {
		e.sum(&s, f.over(e.iteration))
	}
	return s
}
