package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/producers/corpus"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// Log is what documents are read from and appended to; the bus's client is one.
type Log interface {
	Append(ctx context.Context, events ...event.Event) error
	Read(ctx context.Context, topic string, from, to map[int32]int64, fn func(event.Event) error) error
}

// Index reads what the log holds of documents. A record that cannot be decoded is passed over: sinks keep it as a dead
// letter.
func Index(ctx context.Context, log Log) (*corpus.Index, error) {
	index := new(corpus.Index)
	err := log.Read(ctx, topics.Documents, nil, nil, func(ev event.Event) error {
		if err := index.Apply(ev); !errors.Is(err, event.ErrMalformed) {
			return err
		}
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the documents: %w", err)
	}
	return index, nil
}

// Add ingests files and folders, with a bar as set says. It returns the documents that the log then holds.
func Add(ctx context.Context, log Log, paths []string, set progress.Settings) (corpus.Summary, *corpus.Index, error) {
	index, err := Index(ctx, log)
	if err != nil {
		return corpus.Summary{}, nil, err
	}
	bar := progress.NewBar(set, "documents", progress.Bytes)
	source := observe.NewSource("corpus")
	g, err := corpus.New(corpus.NewDefaultConfig(), corpus.Settings{
		Appender: log, Known: index,
		// A bar that cannot be drawn is no reason to stop.
		Progress: func(p corpus.Progress) { _ = bar.Set(p.Bytes, p.BytesTotal) },
		Stamp:    func(started time.Time) *spadepb.Observed { return source.Stamp(started) },
	})
	if err != nil {
		return corpus.Summary{}, nil, errors.Join(err, bar.Close())
	}
	sum, err := g.Add(ctx, paths...)
	return sum, index, errors.Join(err, bar.Close())
}

// shownProblems is how many problems are listed.
const shownProblems = 20

// WriteProblems lists what could not be ingested.
func WriteProblems(w io.Writer, sum corpus.Summary) error {
	for i, p := range sum.Problems {
		if i == shownProblems {
			_, err := fmt.Fprintf(w, "and %d more problems\n", sum.ProblemCount-shownProblems)
			return err
		}
		if _, err := fmt.Fprintln(w, screen.Escape(p.Error())); err != nil {
			return err
		}
	}
	return nil
}

// WriteSummary says in a few lines what an ingestion did.
func WriteSummary(w io.Writer, sum corpus.Summary) error {
	text := fmt.Sprintf("%s documents in %s files (%s): %s added as %s chunks, %s known already",
		progress.Items(int64(sum.Documents)), progress.Items(int64(sum.Files)), progress.Bytes(sum.FileBytes),
		progress.Items(int64(sum.Added)), progress.Items(int64(sum.Chunks)), progress.Items(int64(sum.Known)))
	if sum.Withdrawn > 0 {
		text += fmt.Sprintf(", %s withdrawn earlier", progress.Items(int64(sum.Withdrawn)))
	}
	if sum.ProblemCount > 0 {
		text += fmt.Sprintf(", %s problems", progress.Items(int64(sum.ProblemCount)))
	}
	if _, err := fmt.Fprintln(w, text); err != nil {
		return err
	}
	for _, s := range sum.Skipped {
		if _, err := fmt.Fprintf(w, "passed over %s files: %s\n", progress.Items(int64(s.Files)), screen.Escape(s.Kind)); err != nil {
			return err
		}
	}
	return nil
}
