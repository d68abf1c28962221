package telemetry

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

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

// told are the fields that are looked at, by the type of an event. Who appends waits until the event is counted: of the
// payloads of other types nothing is read, nor of the steps of an episode.
var told = func() map[string]event.Partial {
	all := map[string]event.Partial{}
	look := func(msg proto.Message, fields ...protoreflect.Name) {
		all[event.TypeOf(msg)] = event.NewPartial(msg, fields...)
	}
	look((*spadepb.EnvironmentRejected)(nil), "stage")
	look((*spadepb.RolloutCompleted)(nil), "arm", "outcome")
	look((*spadepb.DeadLetter)(nil), "consumer")
	look((*spadepb.BatchBuilt)(nil), "role", "groups", "groups_without_signal")
	look((*spadepb.PolicyUpdated)(nil), "policy_to")
	look((*spadepb.IterationClosed)(nil), "iteration", "unlearnable_gap_share")
	for _, msg := range []proto.Message{
		(*spadepb.EnvironmentDesigned)(nil), (*spadepb.EnvironmentAccepted)(nil), (*spadepb.RolloutDropped)(nil), (*spadepb.RunFinished)(nil),
	} {
		look(msg) // its type says it all
	}
	return all
}()

// add counts events. A payload that cannot be read counts by its type only: whoever decodes it says what is wrong.
func (t *tally) add(events []event.Event) {
	for _, ev := range events {
		var msg proto.Message
		if part, looked := told[ev.Type]; looked {
			msg, _ = part.Message(ev.Payload)
		}
		t.mu.Lock()
		t.count(Events, ev.Type, "")
		t.message(ev, msg)
		t.mu.Unlock()
	}
}

// message counts what an event tells. msg is nil where nothing of it is looked at.
func (t *tally) message(ev event.Event, msg proto.Message) {
	run, ofRun := runOf(ev)
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
		if ofRun {
			r := t.run(run)
			r.version = max(r.version, m.GetPolicyTo())
		}
	case *spadepb.IterationClosed:
		if ofRun {
			r := t.run(run)
			r.iteration, r.unlearnable, r.closed = max(r.iteration, int64(m.GetIteration())+1), m.GetUnlearnableGapShare(), true
		}
	case *spadepb.RunFinished:
		delete(t.runs, run)
		return
	}
	if ofRun {
		t.run(run).last = time.Now()
	}
}

// runOf is the run that an event is of, as its key says.
func runOf(ev event.Event) (run uuid.UUID, ok bool) {
	text, _, pair := strings.Cut(ev.Key, "/")
	if ev.Topic == topics.Documents && !pair {
		return uuid.Nil, false
	}
	run, err := uuid.Parse(text)
	return run, err == nil // a dead letter's is none
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

// run is the tally of a run; of too many the one that was touched least lately is forgotten.
func (t *tally) run(id uuid.UUID) *runTally {
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
