package letters

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/embedding"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Options is how records are appended again.
type Options struct {
	DryRun bool // append nothing
	Again  bool // also those that were appended again before
	Force  bool // also those that this program cannot read either
}

// Actions of an Outcome.
const (
	Appended = "appended"
	Would    = "would append"
	Skipped  = "skipped"
	Refused  = "refused"
)

// Outcome is what became of a letter.
type Outcome struct {
	Letter Letter
	Action string
	Reason string // why it was skipped or refused, or what to know
}

// Retry appends the records of letters again, oldest first. A record that was appended again before is skipped, and one
// that would fail again is refused, each with the reason.
func Retry(ctx context.Context, log Log, list []Letter, o Options) ([]Outcome, error) {
	over, err := finishedRuns(ctx, log)
	if err != nil {
		return nil, err
	}
	list = slices.Clone(list)
	slices.SortStableFunc(list, func(a, b Letter) int { return a.Record.compare(b.Record) })
	out := make([]Outcome, len(list))
	done := map[Place]bool{} // records that were appended again, or need not be
	for _, i := range originalsFirst(list) {
		l := list[i]
		action, reason, err := retryUnlessDone(ctx, log, l, o, done, over)
		if err != nil {
			out = slices.DeleteFunc(out, func(o Outcome) bool { return o.Action == "" })
			return out, fmt.Errorf("retry %s: %w", l.Record, err)
		}
		out[i] = Outcome{l, action, reason}
		done[l.Record] = done[l.Record] || action != Refused
	}
	return out, nil
}

// originalsFirst are the indices of letters: those about a retry after the others, as it counts what became of the record that it
// repeats.
func originalsFirst(list []Letter) []int {
	var originals, retries []int
	for i, l := range list {
		if l.RetryOf == nil {
			originals = append(originals, i)
		} else {
			retries = append(retries, i)
		}
	}
	return append(originals, retries...)
}

func retryUnlessDone(
	ctx context.Context, log Log, l Letter, o Options, done map[Place]bool, over map[uuid.UUID]bool,
) (action, reason string, err error) {
	switch {
	case done[l.Record]:
		return Skipped, "another letter is about the same record", nil
	case o.Again && l.RetryOf != nil && done[*l.RetryOf]:
		return Skipped, fmt.Sprintf("it is the retry of %s, which has a letter of its own here", l.RetryOf), nil
	case ofRun(l.Consumer) && over[runOf(l.Key)] && !o.Force:
		return Refused, "its run is over, and no " + l.Consumer + " works on it any more", nil
	}
	return retry(ctx, log, l, o)
}

// ofRun reports whether a consumer works on one run; the others read the whole log.
func ofRun(consumer string) bool {
	switch consumer {
	case "memory", "warehouse", "bus":
		return false
	}
	return true
}

// runOf is the run of a record's key; uuid.Nil when the key names none.
func runOf(key []byte) uuid.UUID {
	run, last, err := tables.KeyIDs(string(key))
	if err != nil {
		return uuid.Nil
	}
	if run == uuid.Nil {
		return last
	}
	return run
}

// finishedRuns are the runs that have come to their end.
func finishedRuns(ctx context.Context, log Log) (map[uuid.UUID]bool, error) {
	over := map[uuid.UUID]bool{}
	err := log.Read(ctx, topics.Runs, nil, nil, func(ev event.Event) error {
		if ev.Type == event.TypeOf((*spadepb.RunFinished)(nil)) {
			over[runOf([]byte(ev.Key))] = true
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("see which runs are over: %w", err)
	}
	return over, nil
}

func retry(ctx context.Context, log Log, l Letter, o Options) (action, reason string, err error) {
	switch {
	case !known(l.Record.Topic) || l.Record.Topic == topics.DeadLetters:
		return Refused, "its topic is none whose records can be applied", nil
	case l.Retried != nil && !o.Again:
		return Skipped, fmt.Sprintf("it was appended again, to %s; --again does so once more", l.Retried), nil
	case l.Consumer == "memory" && strings.Contains(l.Error, embedding.ErrTextRefused.Error()) && !o.Force:
		return Refused, "its point is there, with a vector of zeros, and the memory writes no point twice", nil
	case l.RetryOf != nil && !o.Again:
		return Skipped, fmt.Sprintf("it is the retry of %s, and failed again; --again tries once more", l.RetryOf), nil
	}
	found, err := find(ctx, log, l.Record)
	if err != nil {
		return "", "", err
	}
	switch {
	case found.gone != "":
		return Refused, found.gone, nil
	case found.unreadable != nil && !o.Force:
		return Refused, fmt.Sprintf("it would fail again: %v", found.unreadable), nil
	}
	if found.large {
		reason = "it is a large event: a consumer that has read it since it was started passes over it; restart the workers before they come to it"
	}
	if o.DryRun {
		return Would, reason, nil
	}
	return Appended, reason, log.AppendRecords(ctx, found.records...)
}

// source is a letter's record as it lies in the log, ready to be appended again.
type source struct {
	records    []event.Record
	large      bool
	unreadable error  // this program cannot decode or convert it
	gone       string // why there is nothing to append
}

// reach is how many records around the one that a letter names the parts of a large event can lie.
const reach = 10_100

// find reads a letter's record, all of it where it has several parts.
func find(ctx context.Context, log Log, at Place) (source, error) {
	var rec *event.Record
	one := func(v int64) map[int32]int64 { return map[int32]int64{at.Partition: v} }
	err := log.ReadRecords(ctx, at.Topic, one(at.Offset), one(at.Offset+1), func(r event.Record) error {
		if r.Offset == at.Offset {
			rec = &r
		}
		return nil
	})
	if err != nil {
		return source{}, err
	}
	if rec == nil {
		return source{gone: "the log no longer holds its record, and what type it had stands only there"}, nil
	}
	var asm event.Assembler
	ev, lost := asm.Add(*rec)
	switch {
	case ev != nil:
		return source{records: []event.Record{deadletter.Retry(*rec)}, unreadable: readable(*ev)}, nil
	case len(lost) > 0:
		return source{records: []event.Record{deadletter.Retry(*rec)}, unreadable: lost[0].Err}, nil
	}
	return findLarge(ctx, log, at)
}

// errFound ends a reading that has found what it looked for.
var errFound = errors.New("found")

// findLarge assembles the event that has a part at a place. Its parts get a new nonce: a reader would join the old ones'.
func findLarge(ctx context.Context, log Log, at Place) (source, error) {
	ends, err := log.HighWatermarks(ctx, at.Topic)
	if err != nil {
		return source{}, err
	}
	one := func(v int64) map[int32]int64 { return map[int32]int64{at.Partition: v} }
	var (
		asm   event.Assembler
		whole *event.Event
	)
	to := min(ends[at.Partition], at.Offset+reach)
	err = log.ReadRecords(ctx, at.Topic, one(max(0, at.Offset-reach)), one(to), func(r event.Record) error {
		if ev, _ := asm.Add(r); ev != nil && (ev.Offset == at.Offset || ev.LastOffset == at.Offset) {
			whole = ev
			return errFound
		}
		return nil
	})
	if err != nil && !errors.Is(err, errFound) {
		return source{}, err
	}
	if whole == nil {
		return source{gone: "it is part of a large event whose other parts are not in the log: who wrote it has to write it again"}, nil
	}
	records, err := event.Encode(*whole, 0, uuid.New())
	if err != nil {
		return source{}, err
	}
	for i := range records {
		records[i].Partition, records[i].Offset = at.Partition, at.Offset
		records[i] = deadletter.Retry(records[i])
	}
	return source{records: records, large: true, unreadable: readable(*whole)}, nil
}

// readable reports why this program could not apply an event either; nil: it could.
func readable(ev event.Event) error {
	if err := event.Check(ev); err != nil {
		return err
	}
	msg, err := ev.Message()
	if err != nil {
		return err
	}
	catalogue, err := tables.New()
	if err != nil {
		return err
	}
	set := tables.NewSet(memory.DefaultAllocator, catalogue, 0)
	defer set.Release()
	return set.Append(&ev, msg)
}
