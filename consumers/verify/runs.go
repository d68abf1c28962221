package verify

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Counts is what a scan counted.
type Counts struct {
	Records          int64            `json:"events"`
	ByType           map[string]int64 `json:"by_type"`
	Repeated         int64            `json:"repeated_ids_same_payload"`
	RepeatedOther    int64            `json:"repeated_ids_other_payload"`
	VoidUpdates      int64            `json:"void_policy_updates"`
	Nondeterministic int64            `json:"nondeterministic_events"`
	Retried          int64            `json:"retried_records"`
}

// RunLog is the check of the log against itself.
type RunLog struct {
	// Only is the run that counts; uuid.Nil: all.
	Only uuid.UUID
	// Cut is that of the scan.
	Cut Cut

	report *Report
	Counts Counts
	folds  map[uuid.UUID]*fold
	order  []uuid.UUID
	poison map[Place]*poison
	letters
}

// poison is a record that cannot be decoded.
type poison struct {
	id     uuid.UUID
	key    string
	err    error
	healed bool // it was appended again, and that could be decoded
}

// NewRunLog makes the check. It adds to the report when Finish is called, and before.
func NewRunLog(only uuid.UUID, cut Cut, report *Report) *RunLog {
	return &RunLog{
		Only: only, Cut: cut, report: report, Counts: Counts{ByType: map[string]int64{}},
		folds: map[uuid.UUID]*fold{}, poison: map[Place]*poison{}, letters: newLetters(),
	}
}

var _ Check = (*RunLog)(nil)

// ours reports whether a record of that key counts.
func (l *RunLog) ours(key string) bool { return l.Only == uuid.Nil || topics.OfRun(key, l.Only) }

// Add implements Check.
func (l *RunLog) Add(_ context.Context, e *Entry) error {
	if e.Topic == topics.DeadLetters && e.Err == nil {
		l.letter(e)
		return nil
	}
	if !l.ours(e.Key) {
		return nil
	}
	if e.RetryOf != nil {
		l.Counts.Retried++
		l.retried[*e.RetryOf] = true
		if p := l.poison[*e.RetryOf]; p != nil && e.Err == nil {
			p.healed = true
		}
	}
	if e.Err != nil {
		l.poison[e.Place()] = &poison{id: e.ID, key: e.Key, err: e.Err}
		return nil
	}
	l.repeat(e)
	if !e.First {
		return nil
	}
	l.Counts.Records++
	l.Counts.ByType[shortType(e.Type)]++
	if e.Observed.GetNondeterministic() {
		l.Counts.Nondeterministic++
	}
	if e.Before != nil {
		l.heal(e)
	}
	l.fold(e)
	return nil
}

// shortType is an event's type without its package.
func shortType(ceType string) string {
	const prefix = "spade.v1."
	if len(ceType) > len(prefix) && ceType[:len(prefix)] == prefix {
		return ceType[len(prefix):]
	}
	return ceType
}

// heal marks records of this id that could not be decoded.
func (l *RunLog) heal(e *Entry) {
	for at, p := range l.poison {
		if p.id == e.ID && at.Topic == e.Topic && at.Partition == e.Partition {
			p.healed = true
		}
	}
}

// repeat counts a record whose id came before.
func (l *RunLog) repeat(e *Entry) {
	if e.Before == nil {
		return
	}
	if e.Type == event.TypeOf((*spadepb.PolicyUpdated)(nil)) {
		l.Counts.VoidUpdates++
	}
	if e.Same || e.First { // what came before could not be read, and is named for that
		l.Counts.Repeated++
		return
	}
	l.Counts.RepeatedOther++
	now := seenOf(e)
	detail := fmt.Sprintf("%s in %s/%d at %d (payload %x) repeats offset %d (payload %x); the first counts",
		shortType(e.Type), e.Topic, e.Partition, e.LastOffset, now.Sum[:8], e.Before.Offset, e.Before.Sum[:8])
	l.report.Add(AreaLog, "repeated id", e.ID.String(), "%s", detail)
}

// fold gives an event to its run.
func (l *RunLog) fold(e *Entry) {
	if e.Topic == topics.Documents {
		return
	}
	run, last, err := tables.KeyIDs(e.Key)
	if err != nil {
		l.report.Add(AreaLog, "bad key", e.Place().String(), "%s has the key %q", shortType(e.Type), e.Key)
		return
	}
	if run == uuid.Nil {
		run = last
	}
	if m, ok := e.Message.(interface{ GetRunId() []byte }); ok && !bytes.Equal(m.GetRunId(), run[:]) {
		l.report.Add(AreaLog, "bad key", e.Place().String(), "%s has the key %q and says that it is of run %s", shortType(e.Type), e.Key, hexID(m.GetRunId()))
		return
	}
	f := l.folds[run]
	if f == nil {
		f = newFold(run, l.report)
		l.folds[run] = f
		l.order = append(l.order, run)
	}
	late := e.Topic == topics.Runs && e.LastOffset >= l.Cut.Closed[e.Partition]
	f.add(e, late)
}

// Partition implements Check.
func (l *RunLog) Partition(context.Context) error { return nil }

// Finish judges what was read.
func (l *RunLog) Finish() {
	for _, run := range l.order {
		l.folds[run].finish()
	}
	for _, at := range l.poisoned() {
		p := l.poison[at]
		l.report.Add(AreaLog, "unreadable record", at.String(), "key %q: %v; %s", p.key, p.err, l.lettered(at))
	}
	l.judgeLetters()
}

// poisoned are the places of records that cannot be decoded and were not repaired by a retry, in order.
func (l *RunLog) poisoned() []Place {
	out := slices.Collect(maps.Keys(l.poison))
	out = slices.DeleteFunc(out, func(at Place) bool { return l.poison[at].healed })
	slices.SortFunc(out, comparePlaces)
	return out
}

// Runs are the runs that were met, as they stand.
func (l *RunLog) Runs() []RunState {
	out := make([]RunState, 0, len(l.order))
	for _, run := range l.order {
		out = append(out, l.folds[run].state())
	}
	return out
}

// RunState is how far a run has come.
type RunState struct {
	ID       uuid.UUID `json:"run_id"`
	Name     string    `json:"name"`
	Kind     string    `json:"kind"`
	Status   string    `json:"status"`
	Designed int       `json:"designed"`
	Accepted int       `json:"accepted"`
	Rejected int       `json:"rejected"`
	Rollouts int       `json:"rollouts"`
	Dropped  int       `json:"dropped"`
	Versions int       `json:"policy_versions"`
	Episodes int       `json:"evaluation_episodes"`
	// InFlight is what is asked for and not there while the run goes on.
	InFlight InFlight `json:"in_flight"`
}

// InFlight is what an unfinished run still lacks of what it has begun.
type InFlight struct {
	Slots    int `json:"slots"`
	Designs  int `json:"designs"`
	Rollouts int `json:"rollouts"`
	Regrets  int `json:"regrets"`
	Rewards  int `json:"rewards"`
}

// start reads the event that opened the run.
func start(e *Entry) (*runs.Run, error) {
	run, err := runs.FromEvent(e.Event)
	if err != nil {
		return nil, err
	}
	return &run, nil
}

func seenOf(e *Entry) Seen { return seen(e.Payload, e.LastOffset, e.Err == nil) }

// message is the payload as one type.
func message[T proto.Message](e *Entry) (T, bool) {
	m, ok := e.Message.(T)
	return m, ok
}
