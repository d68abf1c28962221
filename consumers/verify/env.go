package verify

import (
	"math/bits"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/spadepb"
)

// env is what is kept of one environment.
type env struct {
	iteration, slot, attempt    int32
	designed                    bool
	accepted, rejected, last    bool
	estimated, unavailable      bool
	rewarded                    bool
	plain, hinted, repeats      int32
	completed, dropped          bitset // of episodes: those of the plain arm, then the hinted one's
	nCompleted, nDropped, extra int32
}

// bitset is a set of small numbers.
type bitset []uint64

// add puts a number in and reports whether it is new.
func (b *bitset) add(i int) bool {
	for len(*b) <= i/64 {
		*b = append(*b, 0)
	}
	bit := uint64(1) << (i % 64)
	fresh := (*b)[i/64]&bit == 0
	(*b)[i/64] |= bit
	return fresh
}

func (b bitset) has(i int) bool { return i/64 < len(b) && b[i/64]&(1<<(i%64)) != 0 }

func (b bitset) len() int {
	n := 0
	for _, w := range b {
		n += bits.OnesCount64(w)
	}
	return n
}

// envEvent is what the events of an environment have in common.
type envEvent interface {
	GetEnvId() []byte
	GetIteration() int32
}

// addEnv folds an event of an environment.
func (f *fold) addEnv(e *Entry) {
	m, ok := e.Message.(envEvent)
	if !ok {
		return
	}
	id := uuid.UUID(m.GetEnvId())
	at := f.envs[id]
	if at == nil {
		at = &env{iteration: m.GetIteration(), slot: -1}
		f.envs[id] = at
		f.order = append(f.order, id)
	}
	switch m := e.Message.(type) {
	case *spadepb.EnvironmentDesigned:
		at.designed, at.slot, at.attempt = true, m.GetSlot(), m.GetAttempt()
	case *spadepb.EnvironmentAccepted:
		at.accepted, at.slot, at.attempt = true, m.GetSlot(), m.GetAttempt()
		at.plain, at.hinted, at.repeats = m.GetExpectedPlain(), m.GetExpectedHinted(), max(1, m.GetRepeats())
		f.slot(m.GetIteration(), m.GetSlot()).ended = true
	case *spadepb.EnvironmentRejected:
		at.rejected, at.slot, at.attempt, at.last = true, m.GetSlot(), m.GetAttempt(), m.GetLastAttempt()
		if m.GetLastAttempt() {
			f.slot(m.GetIteration(), m.GetSlot()).ended = true
		}
	case *spadepb.RolloutCompleted:
		f.episode(id, at, &at.completed, &at.nCompleted, m)
	case *spadepb.RolloutDropped:
		f.episode(id, at, &at.dropped, &at.nDropped, m)
	case *spadepb.RegretEstimated:
		at.estimated = true
	case *spadepb.RegretUnavailable:
		at.unavailable = true
	case *spadepb.DesignerRewarded:
		at.rewarded = true
	}
}

// episodeEvent is the end of an expected rollout.
type episodeEvent interface {
	GetRolloutId() []byte
	GetArm() string
	GetSeedIndex() int32
	GetRepeat() int32
}

func (f *fold) episode(id uuid.UUID, at *env, set *bitset, n *int32, m episodeEvent) {
	*n++
	i, ok := at.number(m)
	if !ok {
		if at.extra++; at.accepted {
			f.report.Add(AreaLog, "unexpected rollout", uuid.UUID(m.GetRolloutId()).String(), "environment %s expects no %s episode of seed %d repeat %d",
				id, m.GetArm(), m.GetSeedIndex(), m.GetRepeat())
		}
		return
	}
	set.add(i)
}

// number is an episode's place among those that are expected.
func (e *env) number(m episodeEvent) (int, bool) {
	i := m.GetSeedIndex()*e.repeats + m.GetRepeat()
	if m.GetRepeat() < 0 || m.GetRepeat() >= e.repeats || m.GetSeedIndex() < 0 {
		return 0, false
	}
	switch m.GetArm() {
	case ids.ArmPlain:
		return int(i), i < e.plain
	case ids.ArmHinted:
		return int(e.plain + i), i < e.hinted
	}
	return 0, false
}

// judgeEnv judges one environment: what contradicts itself always, what is missing when its iteration is over.
func (f *fold) judgeEnv(id uuid.UUID, e *env) {
	add := func(kind, detail string, args ...any) { f.report.Add(AreaLog, kind, id.String(), detail, args...) }
	terminal := e.accepted || e.rejected
	switch {
	case terminal && !e.designed:
		add("missing design", "it ended without an EnvironmentDesigned")
	case e.accepted && e.rejected:
		add("two terminals", "it is accepted and rejected")
	case !terminal && !e.designed:
		add("missing design", "there are events of it and neither its design nor its acceptance")
	}
	if e.estimated && e.unavailable {
		add("two terminals", "its regret is both estimated and unavailable")
	}
	if (e.nCompleted > 0 || e.nDropped > 0) && !e.accepted {
		add("unexpected rollout", "%d episodes of an environment that was not accepted", e.nCompleted+e.nDropped)
	}
	f.judgeEpisodes(id, e)
	if !f.over(e.iteration) || f.run.Started.GetKind() == runs.KindPool {
		return
	}
	if e.designed && !terminal {
		add("missing terminal", "iteration %d slot %d attempt %d is neither accepted nor rejected", e.iteration, e.slot, e.attempt)
	}
	if e.accepted && !e.estimated && !e.unavailable {
		add("missing regret", "neither RegretEstimated nor RegretUnavailable")
	}
	if terminal && !e.rewarded {
		add("missing reward", "no DesignerRewarded")
	}
}

// judgeEpisodes: every expected rollout ends exactly once.
func (f *fold) judgeEpisodes(id uuid.UUID, e *env) {
	for i := range int(e.plain + e.hinted) {
		arm, seedIndex, repeat := e.episode(i)
		done, dropped := e.completed.has(i), e.dropped.has(i)
		switch {
		case done && dropped:
			f.report.Add(AreaLog, "two terminals", ids.Rollout(id, arm, seedIndex, repeat).String(), "the rollout is completed and dropped")
		case !done && !dropped && f.over(e.iteration):
			f.report.Add(AreaLog, "missing rollout", ids.Rollout(id, arm, seedIndex, repeat).String(),
				"environment %s, %s arm, seed %d, repeat %d: neither RolloutCompleted nor RolloutDropped", id, arm, seedIndex, repeat)
		}
	}
}

// episode is what the i-th expected rollout is.
func (e *env) episode(i int) (arm string, seedIndex, repeat int) {
	arm = ids.ArmPlain
	if i >= int(e.plain) {
		arm, i = ids.ArmHinted, i-int(e.plain)
	}
	return arm, i / int(e.repeats), i % int(e.repeats)
}

// count adds the environment to its iteration.
func (e *env) count(s *spadepb.IterationClosed) {
	flags := []struct {
		set bool
		to  *int32
	}{
		{e.designed, &s.Designed},
		{e.accepted, &s.Accepted},
		{e.rejected, &s.Rejected},
		{e.estimated, &s.RegretsEstimated},
		{e.unavailable, &s.RegretsUnavailable},
	}
	for _, f := range flags {
		if f.set {
			*f.to++
		}
	}
	s.RolloutsCompleted += e.nCompleted
	s.RolloutsDropped += e.nDropped
}

// sum adds the environment to its run.
func (e *env) sum(s *RunState, over bool) {
	var k spadepb.IterationClosed
	e.count(&k)
	s.Designed += int(k.GetDesigned())
	s.Accepted += int(k.GetAccepted())
	s.Rejected += int(k.GetRejected())
	s.Rollouts += int(k.GetRolloutsCompleted())
	s.Dropped += int(k.GetRolloutsDropped())
	if over {
		return
	}
	if e.designed && !e.accepted && !e.rejected {
		s.InFlight.Designs++
	}
	if e.accepted {
		s.InFlight.Rollouts += int(e.plain+e.hinted) - e.completed.len() - e.dropped.len()
		if !e.estimated && !e.unavailable {
			s.InFlight.Regrets++
		}
	}
	if (e.accepted || e.rejected) && !e.rewarded {
		s.InFlight.Rewards++
	}
}
