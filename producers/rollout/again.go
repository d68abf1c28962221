package rollout

import (
	"context"
	"encoding/hex"
	"fmt"
	"math"
	"slices"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/play"
	"github.com/seed256f7767/spade/internal/seed"
	"github.com/seed256f7767/spade/schemas/outcome"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// unequal is why the hinted episodes of an environment count for nothing.
const unequal = "the hinted arm is paid for what the plain arm is not"

// again plays moves of the hinted arm again in the worker of the plain arm, beside the plain arm's own episodes. Python
// can know in which arm it is, for what was asked of its process stays there; so an environment could withhold from one
// arm what it pays to the other, and sell the difference as regret. It cannot know which of a worker's episodes are
// these: on each env seed they stand at a place that is drawn.
type again struct {
	worker play.Env
	// order is how the worker's episodes are numbered: an own episode of the plain arm, or one of moves.
	order []entry
	moves []*moves
}

// entry is one episode of the worker: own is its number in the plain arm, or moves is not nil.
type entry struct {
	own   int
	moves *moves
}

// moves is a hinted episode and what came of its actions here.
type moves struct {
	hinted  *play.Episode
	seed    uint64
	started wire.Started
	stepped []wire.Stepped
}

// newAgain draws for each env seed which of its best hinted episodes is played again, and where among the n plain ones.
func newAgain(r *seed.Rand, ok *spadepb.EnvironmentAccepted, hinted []play.Episode, n int) *again {
	a := &again{}
	repeats := int(ok.GetRepeats())
	for s, env := range ok.GetEnvSeeds() {
		var group []entry
		for i := s * repeats; i < min((s+1)*repeats, n); i++ {
			group = append(group, entry{own: i})
		}
		best := bestOf(hinted[min(s*repeats, len(hinted)):min((s+1)*repeats, len(hinted))])
		if len(best) > 0 && len(group) > 0 {
			m := &moves{hinted: best[r.IntN(len(best))], seed: env}
			a.moves = append(a.moves, m)
			group = slices.Insert(group, r.IntN(len(group)+1), entry{moves: m})
		}
		a.order = append(a.order, group...)
	}
	return a
}

// bestOf are the episodes with the highest return among those that ended as an agent can bring it about.
func bestOf(episodes []play.Episode) []*play.Episode {
	var best []*play.Episode
	for i := range episodes {
		e := &episodes[i]
		if e.Outcome != outcome.Solved && e.Outcome != outcome.Failed || e.Nondeterministic {
			continue
		}
		if len(best) > 0 && e.Return > best[0].Return {
			best = nil
		}
		if len(best) == 0 || e.Return == best[0].Return {
			best = append(best, e)
		}
	}
	return best
}

// Reset begins all episodes at once: those that are asked for, and the others among them.
func (a *again) Reset(ctx context.Context, resets []wire.Reset) ([]wire.Started, error) {
	all := make([]wire.Reset, len(a.order))
	for i, e := range a.order {
		if e.moves != nil {
			all[i] = wire.Reset{Episode: i, Seed: e.moves.seed}
			continue
		}
		all[i] = resets[e.own]
		all[i].Episode = i
	}
	answers, err := a.worker.Reset(ctx, all)
	if err != nil {
		return nil, err
	}
	if len(answers) != len(all) {
		return nil, fmt.Errorf("%d answers to %d", len(answers), len(all))
	}
	out := make([]wire.Started, len(resets))
	for i, e := range a.order {
		if e.moves != nil {
			e.moves.started = answers[i]
			continue
		}
		out[e.own] = answers[i]
		out[e.own].Episode = e.own
	}
	return out, nil
}

// Step makes the steps that are asked for, and the next one of each of the others.
func (a *again) Step(ctx context.Context, actions []wire.Action) ([]wire.Stepped, error) {
	at := make(map[int]int, len(actions))
	for k, action := range actions {
		at[action.Episode] = k
	}
	var all []wire.Action
	var from []entry
	for i, e := range a.order {
		text, ok := "", false
		if e.moves != nil {
			text, ok = e.moves.next()
		} else if k, asked := at[e.own]; asked {
			text, ok = actions[k].Text, true
		}
		if ok {
			all, from = append(all, wire.Action{Episode: i, Text: text}), append(from, e)
		}
	}
	answers, err := a.worker.Step(ctx, all)
	if err != nil {
		return nil, err
	}
	if len(answers) != len(all) {
		return nil, fmt.Errorf("%d answers to %d", len(answers), len(all))
	}
	out := make([]wire.Stepped, len(actions))
	for i, e := range from {
		if e.moves != nil {
			e.moves.stepped = append(e.moves.stepped, answers[i])
			continue
		}
		k := at[e.own]
		out[k] = answers[i]
		out[k].Episode = e.own
	}
	return out, nil
}

// finish plays what goes on after the plain arm's own episodes have ended.
func (a *again) finish(ctx context.Context) error {
	for slices.ContainsFunc(a.moves, func(m *moves) bool { _, more := m.next(); return more }) {
		if _, err := a.Step(ctx, nil); err != nil {
			return err
		}
	}
	return nil
}

// differ says whether any hinted episode was another one here.
func (a *again) differ() bool { return slices.ContainsFunc(a.moves, (*moves).differ) }

// next is the action to play now; false: there is none, or the episode has ended.
func (m *moves) next() (string, bool) {
	n := len(m.stepped)
	if m.started.Outcome != wire.Ongoing || n >= len(m.hinted.Steps) || n > 0 && m.stepped[n-1].Outcome != wire.Ongoing {
		return "", false
	}
	return m.hinted.Steps[n].GetAction(), true
}

// differ says whether these moves gave something else than in the hinted arm. What the machine may have caused, such as a
// clock or the end of memory, shows nothing.
func (m *moves) differ() bool {
	if outside(m.started.Fault) || slices.ContainsFunc(m.stepped, func(s wire.Stepped) bool { return outside(s.Fault) }) {
		return false
	}
	e := m.hinted
	if m.started.StateHash != hex.EncodeToString(e.InitialStateHash) || len(m.stepped) != len(e.Steps) {
		return true
	}
	for i, s := range m.stepped {
		want := e.Steps[i]
		if math.Float64bits(s.Reward) != math.Float64bits(want.GetReward()) || s.StateHash != hex.EncodeToString(want.GetStateHash()) ||
			s.Terminated != want.GetTerminated() || s.Truncated != want.GetTruncated() {
			return true
		}
	}
	return len(m.stepped) > 0 && string(m.stepped[len(m.stepped)-1].Outcome) != e.Outcome
}

func outside(f wire.Fault) bool {
	return f.Nondeterministic || f.Cause == wire.CauseTimeout || f.Cause == wire.CauseMemory || f.Cause == wire.CauseCrashed
}

// void makes episodes count for nothing. That two workers told two things of the same moves is no property of the source.
func void(episodes []play.Episode) {
	for i := range episodes {
		e := &episodes[i]
		e.Outcome, e.StopReason, e.Error, e.Nondeterministic = outcome.EnvError, string(wire.CauseMismatch), unequal, true
		e.Return, e.Verify = 0, nil
	}
}
