package warehouse

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
)

// A warehouse that is away for an hour is two lines in the log, not one for every statement that is tried.
func TestAnOutageOfTheWarehouseIsToldOnce(t *testing.T) {
	var log bytes.Buffer
	s := &Sink{log: slog.New(slog.NewTextHandler(&log, nil))}
	for range 3 {
		s.again("plan", ErrTransient)
	}
	s.succeeds(ErrDiskFull)
	s.succeeds(nil)
	s.succeeds(nil)
	lines := strings.Split(strings.TrimSpace(log.String()), "\n")
	if len(lines) != 2 || !strings.Contains(lines[0], "level=WARN") || !strings.Contains(lines[1], "takes statements again") {
		t.Errorf("the log:\n%s", &log)
	}
	if s.stats.retries.Load() != 3 {
		t.Errorf("%d retries counted, want 3", s.stats.retries.Load())
	}
}
