package telemetry

import (
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// maxRuns is how many runs have metrics of their own: those that this process appended events of last.
const maxRuns = 16

// maxLabels is how many values a label that comes from an event may have; the rest is one, named other.
const maxLabels = 32

// tally counts the events that this process appended.
type tally struct {
	design, episode, train *observe.Histogram

	mu     sync.Mutex // guards the following
	counts map[counted]float64
	labels map[string][]string // values seen of a label, by metric and label
	runs   map[uuid.UUID]*runTally
}

// counted is a counter and its labels.
type counted struct{ name, a, b string }

// runTally is where a run stands as far as this process appended it.
type runTally struct {
	iteration, version int64 // -1: unknown
	unlearnable        float64
	closed             bool // an iteration has been
	last               time.Time
}

func newTally() *tally {
	return &tally{
		design: observe.NewHistogram(observe.Slow), episode: observe.NewHistogram(observe.Slow), train: observe.NewHistogram(observe.Slow),
		counts: begun(), labels: map[string][]string{}, runs: map[uuid.UUID]*runTally{},
	}
}

// begun are the counters that are there from the beginning: of one that appears with its first count nobody sees it grow.
func begun() map[counted]float64 {
	counts := map[counted]float64{{EpisodesDropped, "", ""}: 0, {Environments, "accepted", ""}: 0}
	for _, consumer := range []string{"bus", "designer", "rollout", "scorer", "memory", "warehouse"} {
		counts[counted{DeadLetters, consumer, ""}] = 0
	}
	return counts
}

// add counts events. A payload that cannot be decoded counts by its type only: whoever reads it says what is wrong.
func (t *tally) add(events []event.Event) {
	for _, ev := range events {
		msg, err := ev.Message()
		t.mu.Lock()
		t.count(Events, ev.Type, "")
		if err == nil {
			t.message(ev, msg)
		}
		t.mu.Unlock()
	}
}

func (t *tally) message(ev event.Event, msg proto.Message) {
	switch m := msg.(type) {
	case *spadepb.EnvironmentDesigned:
		t.design.Observe(took(ev))
	case *spadepb.EnvironmentAccepted:
		t.count(Environments, "accepted", "")
	case *spadepb.EnvironmentRejected:
		t.count(Environments, "rejected", t.limited(Environments, m.GetStage()))
	case *spadepb.RolloutCompleted:
		t.count(Episodes, t.limited(Episodes, m.GetArm()), t.limited(Episodes, m.GetOutcome()))
		t.episode.Observe(took(ev))
	case *spadepb.RolloutDropped:
		t.count(EpisodesDropped, "", "")
	case *spadepb.DeadLetter:
		t.count(DeadLetters, t.limited(DeadLetters, m.GetConsumer()), "")
	case *spadepb.BatchBuilt:
		role := t.limited(TrainingGroups, m.GetRole())
		t.counts[counted{TrainingGroups, role, ""}] += float64(m.GetGroups())
		t.counts[counted{TrainingGroupsEmpty, role, ""}] += float64(m.GetGroupsWithoutSignal())
	case *spadepb.PolicyUpdated:
		t.train.Observe(took(ev))
		if r := t.run(m.GetRunId()); r != nil {
			r.version = max(r.version, m.GetPolicyTo())
		}
	case *spadepb.IterationClosed:
		if r := t.run(m.GetRunId()); r != nil {
			r.iteration, r.unlearnable, r.closed = max(r.iteration, int64(m.GetIteration())+1), m.GetUnlearnableGapShare(), true
		}
	}
	t.touch(ev, msg)
}

// took is how long what an event tells of lasted.
func took(ev event.Event) time.Duration {
	return time.Duration(ev.Observed.GetDurationUs()) * time.Microsecond
}

func (t *tally) count(name, a, b string) { t.counts[counted{name, a, b}]++ }

// limited is a label's value, or other where it has too many.
func (t *tally) limited(name, value string) string {
	seen := t.labels[name]
	switch {
	case slices.Contains(seen, value):
		return value
	case len(seen) == maxLabels:
		return "other"
	}
	t.labels[name] = append(seen, value)
	return value
}

// touch notes progress of the run that an event is of.
func (t *tally) touch(ev event.Event, msg proto.Message) {
	if finished, ok := msg.(*spadepb.RunFinished); ok {
		if id, err := uuid.FromBytes(finished.GetRunId()); err == nil {
			delete(t.runs, id)
		}
		return
	}
	of, ok := msg.(interface{ GetRunId() []byte })
	if !ok || ev.Topic == topics.DeadLetters {
		return
	}
	if r := t.run(of.GetRunId()); r != nil {
		r.last = time.Now()
	}
}

// run is the tally of a run; of too many the one that was touched least lately is forgotten.
func (t *tally) run(raw []byte) *runTally {
	id, err := uuid.FromBytes(raw)
	if err != nil {
		return nil
	}
	if r := t.runs[id]; r != nil {
		return r
	}
	if len(t.runs) == maxRuns {
		var oldest uuid.UUID
		for other, r := range t.runs {
			if o := t.runs[oldest]; o == nil || r.last.Before(o.last) {
				oldest = other
			}
		}
		delete(t.runs, oldest)
	}
	r := &runTally{iteration: -1, version: -1, last: time.Now()}
	t.runs[id] = r
	return r
}

func (t *tally) forget(run uuid.UUID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.runs, run)
}

// sample tells what was counted.
func (t *tally) sample(s Sample) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for c, n := range t.counts {
		switch c.name {
		case Environments, Episodes:
			s.Value(c.name, n, c.a, c.b)
		case EpisodesDropped:
			s.Value(c.name, n)
		default:
			s.Value(c.name, n, c.a)
		}
	}
	s.Distribution(DesignTime, t.design.Snapshot())
	s.Distribution(EpisodeTime, t.episode.Snapshot())
	s.Distribution(TrainTime, t.train.Snapshot())
	for id, r := range t.runs {
		run := id.String()
		s.Value(RunProgress, float64(r.last.UnixMilli())/1000, run)
		if r.iteration >= 0 {
			s.Value(RunIteration, float64(r.iteration), run)
		}
		if r.version >= 0 {
			s.Value(RunVersion, float64(r.version), run)
		}
		if r.closed {
			s.Value(RunUnlearnable, r.unlearnable, run)
		}
	}
}
