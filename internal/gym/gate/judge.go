package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

const noSolve = "there is no solve(), so nothing shows that it can be solved"

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// resetFault is the first episode that could not begin.
func (s *session) resetFault() string {
	for _, t := range s.all {
		if t.begun && t.first.Outcome != gym.Ongoing {
			return fmt.Sprintf("%s: %s", t.name, t.first.Error)
		}
	}
	return ""
}

// fault finds the first episode that ended in a fault of the kind that belongs to the stage.
func (s *session) fault(stage string) string {
	for _, t := range s.all {
		if last, ok := t.last(); ok && stageOf(last.Fault) == stage {
			return fmt.Sprintf("%s, step %d: %s", t.name, len(t.steps)-1, last.Error)
		}
	}
	return ""
}

// stageOf says which stage a fault of a step belongs to.
func stageOf(f gym.Fault) string {
	switch {
	case f.Outcome == gym.Ongoing, f.Outcome == gym.Solved, f.Outcome == gym.Failed:
		return ""
	case f.Outcome == gym.VerifierError:
		return StageVerify
	case f.Cause == wire.CauseReward:
		return StageRewards
	}
	return StageRun
}

func (s *session) runFault() string { return s.fault(StageRun) }

func (s *session) nondeterministic() bool {
	for _, t := range s.all {
		if t.first.Nondeterministic || slices.ContainsFunc(t.steps, func(a gym.Stepped) bool { return a.Nondeterministic }) {
			return true
		}
	}
	return false
}

// judge decides the stages that need nothing but what was played.
func (s *session) judge(j *judge) {
	solvable := s.meta.HasSolve || s.opts.RequireSolve
	j.pass(StageTerminates, s.terminates())
	j.pass(StageRewards, s.fault(StageRewards))
	j.pass(StageVerify, s.verified())
	if solvable {
		j.pass(StageReference, s.referenceScores())
		j.pass(StageWrong, s.wrongScores())
	} else {
		j.skip(StageReference, noSolve)
		j.skip(StageWrong, noSolve)
	}
	j.pass(StageRandom, s.randomScores())
	j.pass(StageHint, s.leak())
}

func (s *session) of(r role) []*trajectory {
	var list []*trajectory
	for _, t := range s.all {
		if t.role == r {
			list = append(list, t)
		}
	}
	return list
}

func (s *session) referenceScores() string {
	if !s.meta.HasSolve {
		return noSolve
	}
	for _, t := range s.of(reference) {
		if last, _ := t.last(); last.Outcome != gym.Solved {
			return fmt.Sprintf("%s: the return is %v and the outcome %q", t.name, last.Return, last.Outcome)
		}
	}
	return ""
}

func (s *session) wrongScores() string {
	if list := s.of(wrong); len(list) > 0 && solved(list) == len(list) {
		return "three wrong solutions all score 1"
	}
	return ""
}

func solved(list []*trajectory) (n int) {
	for _, t := range list {
		if last, ok := t.last(); ok && last.Outcome == gym.Solved {
			n++
		}
	}
	return n
}

func meanReturn(list []*trajectory) float64 {
	sum := 0.0
	for _, t := range list {
		last, _ := t.last()
		sum += last.Return
	}
	return ratio(sum, len(list))
}

func ratio(sum float64, n int) float64 {
	if n == 0 {
		return 0
	}
	return sum / float64(n)
}

func steps(list []*trajectory) (total, most int) {
	for _, t := range list {
		total += len(t.steps)
		most = max(most, len(t.steps))
	}
	return total, most
}

func (s *session) randomScores() string {
	list := s.of(random)
	if mean := meanReturn(list); mean >= s.opts.MaxRandom {
		return fmt.Sprintf("a random policy has a mean return of %.3f over %d episodes, below %v wanted", mean, len(list), s.opts.MaxRandom)
	}
	return ""
}

// measure fills in the statistics of what was played.
func (s *session) measure(out *Stats) {
	starts := map[string]bool{}
	lists, listed := 0, 0
	see := func(observation string, actions []string) {
		out.ObservationBytes = max(out.ObservationBytes, len(observation))
		if len(actions) > 0 {
			lists, listed = lists+1, listed+len(actions)
		}
	}
	for _, t := range s.all {
		if !t.begun {
			continue
		}
		out.Episodes++
		out.Steps += len(t.steps)
		out.HintBytes = max(out.HintBytes, len(t.first.Hint))
		see(t.first.Observation, t.first.Actions)
		for _, a := range t.steps {
			see(a.Observation, a.Actions)
		}
		if t.role == reference {
			starts[t.first.StateHash] = true
		}
	}
	out.DistinctStarts = len(starts)
	out.ActionsMean = ratio(float64(listed), lists)
	references, played := s.of(reference), s.of(random)
	total, most := steps(references)
	out.ReferenceSteps, out.ReferenceStepsMax = ratio(float64(total), len(references)), most
	out.WrongSolved = solved(s.of(wrong))
	total, _ = steps(played)
	out.RandomSteps = ratio(float64(total), len(played))
	out.RandomReturn = meanReturn(played)
	out.RandomSolved = ratio(float64(solved(played)), len(played))
}
