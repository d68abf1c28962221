// Package runlist folds spade.runs into one line a run. Begin with Read and Write.
package runlist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/runs"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Run is what the log says of a run.
type Run struct {
	ID         string     `json:"run_id"`
	Name       string     `json:"name"`
	Kind       string     `json:"kind"`
	Status     string     `json:"status"` // as the log says; "running" and, where Interrupted was asked, "interrupted" and "waiting" have no end yet
	Seed       uint64     `json:"seed"`
	Closed     int        `json:"iterations_closed"`
	Iterations int        `json:"iterations"`
	Designed   int64      `json:"designed"`
	Accepted   int64      `json:"accepted"`
	Rejected   int64      `json:"rejected"`
	Rollouts   int64      `json:"rollouts"`
	Steps      int64      `json:"steps"`
	Plain      float64    `json:"reward_plain"` // of the newest closed iteration
	Regret     float64    `json:"regret"`
	Started    time.Time  `json:"started_at"`
	Finished   *time.Time `json:"finished_at,omitempty"`

	noRegret bool // no environment of that iteration had enough episodes for one
}

// Log is what is read from; the bus's client is one.
type Log interface {
	Read(ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Event) error) error
}

// Read lists the runs of a log in the order in which they were started.
func Read(ctx context.Context, log Log) ([]Run, error) {
	f := fold{byID: map[uuid.UUID]*Run{}, seen: map[uuid.UUID]bool{}}
	if err := log.Read(ctx, topics.Runs, nil, nil, f.add); err != nil {
		return nil, fmt.Errorf("read the runs: %w", err)
	}
	list := make([]Run, len(f.order))
	for i, r := range f.order {
		list[i] = *r
	}
	return list, nil
}

// The statuses of runs without an end in the log. Read says Running, whether or not a process works on one; Interrupted
// tells those that none works on.
const (
	Running     = "running"
	interrupted = "interrupted"
	waiting     = "waiting" // nothing of it is done yet
	unfinished  = "unfinished"
)

// Interrupted changes the status of running runs that no process works on, as working says, and of unfinished imports.
func Interrupted(ctx context.Context, list []Run, working func(ctx context.Context, run uuid.UUID) (bool, error)) error {
	for i := range list {
		if list[i].Status != Running {
			continue
		}
		if list[i].Kind == runs.KindPool {
			list[i].Status = unfinished // nothing in the log tells whether one works on an import
			continue
		}
		at, err := working(ctx, uuid.MustParse(list[i].ID))
		if err != nil {
			return fmt.Errorf("see who works on %s: %w", list[i].Name, err)
		}
		switch {
		case at:
		case list[i].Closed == 0:
			list[i].Status = waiting
		default:
			list[i].Status = interrupted
		}
	}
	return nil
}

// Status is that of a run of the log.
func Status(ctx context.Context, log Log, run uuid.UUID) (string, error) {
	list, err := Read(ctx, log)
	if err != nil {
		return "", err
	}
	for _, r := range list {
		if r.ID == run.String() {
			return r.Status, nil
		}
	}
	return Running, nil
}

type fold struct {
	byID  map[uuid.UUID]*Run
	order []*Run
	seen  map[uuid.UUID]bool // events; the first record of one counts
}

func (f *fold) add(ev event.Event) error {
	if f.seen[ev.ID] {
		return nil
	}
	f.seen[ev.ID] = true
	msg, err := ev.Message()
	if errors.Is(err, event.ErrMalformed) {
		return nil // sinks keep it as a dead letter
	}
	if err != nil {
		return err
	}
	f.apply(ev.Time, msg)
	return nil
}

func (f *fold) apply(at time.Time, msg proto.Message) {
	switch m := msg.(type) {
	case *spadepb.RunStarted:
		id := uuid.UUID(m.GetRunId())
		r := &Run{
			ID: id.String(), Name: m.GetName(), Kind: m.GetKind(), Status: Running, Seed: m.GetSeed(),
			Iterations: int(m.GetConfig().GetIterations()), Started: at.UTC(),
		}
		f.byID[id] = r
		f.order = append(f.order, r)
	case *spadepb.IterationClosed:
		if r := f.byID[uuid.UUID(m.GetRunId())]; r != nil {
			r.Closed++
			r.Designed += int64(m.GetDesigned())
			r.Accepted += int64(m.GetAccepted())
			r.Rejected += int64(m.GetRejected())
			r.Rollouts += int64(m.GetRolloutsCompleted())
			r.Steps += m.GetSteps()
			r.Plain, r.Regret, r.noRegret = m.GetRewardPlain(), m.GetRegret(), m.GetRegretsEstimated() == 0
		}
	case *spadepb.RunFinished:
		if r := f.byID[uuid.UUID(m.GetRunId())]; r != nil {
			at = at.UTC()
			r.Status, r.Finished = m.GetStatus(), &at
			if r.Kind == runs.KindPool { // it has no iterations that would have been counted
				r.Designed, r.Accepted, r.Rejected = m.GetDesigned(), m.GetAccepted(), m.GetRejected()
			}
		}
	}
}

// WriteJSON writes the runs as one JSON array.
func WriteJSON(w io.Writer, list []Run) error {
	enc := json.NewEncoder(screen.JSONWriter(w))
	enc.SetIndent("", "  ")
	return enc.Encode(list)
}

// Write writes the runs as a table.
func Write(w io.Writer, list []Run) error {
	t := screen.NewTable(
		screen.Column{Title: "NAME", Max: 40}, screen.Column{Title: "KIND"}, screen.Column{Title: "STATUS"}, screen.Column{Title: "SEED", Right: true},
		screen.Column{Title: "ITERATIONS", Right: true}, screen.Column{Title: "ACCEPTED", Right: true},
		screen.Column{Title: "ROLLOUTS", Right: true}, screen.Column{Title: "PLAIN", Right: true},
		screen.Column{Title: "REGRET", Right: true}, screen.Column{Title: "STARTED"}, screen.Column{Title: "RUN ID"},
	)
	for _, r := range list {
		plain, regret := "", ""
		if r.Closed > 0 {
			plain, regret = fmt.Sprintf("%.3f", r.Plain), fmt.Sprintf("%+.3f", r.Regret)
		}
		if r.noRegret {
			regret = "none"
		}
		iterations, rollouts := fmt.Sprintf("%d/%d", r.Closed, r.Iterations), fmt.Sprint(r.Rollouts)
		if r.Kind == runs.KindPool {
			iterations, rollouts = "", ""
		}
		t.Add(r.Name, r.Kind, r.Status, r.Seed, iterations, fmt.Sprintf("%d/%d", r.Accepted, r.Designed), rollouts, plain, regret, r.Started.Format("2006-01-02 15:04:05"), r.ID)
	}
	return t.Write(w)
}
