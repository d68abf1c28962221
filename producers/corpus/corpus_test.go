package corpus

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"
	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// memLog is an Appender that keeps what it is given and refuses what a log would.
type memLog struct {
	t      *testing.T
	events []event.Event
	calls  int
	fail   func(call int) error // of the call with that number, from 1
}

func (l *memLog) Append(ctx context.Context, events ...event.Event) error {
	l.t.Helper()
	l.calls++
	if len(events) == 0 {
		l.t.Error("append of nothing")
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if l.fail != nil {
		if err := l.fail(l.calls); err != nil {
			return err
		}
	}
	for _, ev := range events {
		if ev.Topic != topics.Documents {
			l.t.Errorf("event for topic %s", ev.Topic)
		}
		if _, err := event.Encode(ev, topics.MaxRecordBytes, uuid.UUID{1}); err != nil {
			l.t.Errorf("encode: %v", err)
		}
	}
	l.events = append(l.events, events...)
	return nil
}

// documents decodes what was ingested.
func (l *memLog) documents() []*spadepb.DocumentIngested {
	l.t.Helper()
	var out []*spadepb.DocumentIngested
	for _, ev := range l.events {
		msg, err := ev.Message()
		if err != nil {
			l.t.Fatal(err)
		}
		if d, ok := msg.(*spadepb.DocumentIngested); ok {
			out = append(out, d)
		}
	}
	return out
}

func (l *memLog) sources() []string {
	l.t.Helper()
	var out []string
	for _, d := range l.documents() {
		out = append(out, d.Source)
	}
	return out
}

// index folds what was appended.
func (l *memLog) index() *Index {
	l.t.Helper()
	var x Index
	for _, ev := range l.events {
		if err := x.Apply(ev); err != nil {
			l.t.Fatal(err)
		}
	}
	return &x
}

// tree writes files below a new folder; a name that ends in "/" is an empty folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		full := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func newIngester(t *testing.T, log *memLog, change func(*Config, *Settings)) *Ingester {
	t.Helper()
	cfg, set := NewDefaultConfig(), Settings{Appender: log}
	if change != nil {
		change(&cfg, &set)
	}
	g, err := New(cfg, set)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// add ingests paths into a new log and wants no error.
func add(t *testing.T, paths ...string) (*memLog, Summary) {
	t.Helper()
	log := &memLog{t: t}
	sum, err := newIngester(t, log, nil).Add(t.Context(), paths...)
	if err != nil {
		t.Fatal(err)
	}
	return log, sum
}

// wantProblem checks the only problem of a summary.
func wantProblem(t *testing.T, sum Summary, class error, message string) {
	t.Helper()
	if sum.ProblemCount != 1 || len(sum.Problems) != 1 {
		t.Fatalf("%d problems, want 1: %v", sum.ProblemCount, sum.Problems)
	}
	p := sum.Problems[0]
	if !errors.Is(p, class) {
		t.Errorf("problem %v is not of class %v", p, class)
	}
	if p.Error() != message {
		t.Errorf("problem is %q, want %q", p.Error(), message)
	}
}
