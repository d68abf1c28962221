//go:build linux

package chaos

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// timeline is the record of what was done to the world and what was seen of it, in a file and in the test's log.
type timeline struct {
	t     *testing.T
	began time.Time

	mu   sync.Mutex // guards the following
	file *os.File
}

func newTimeline(t *testing.T, dir string) *timeline {
	t.Helper()
	f, err := os.Create(filepath.Join(dir, "timeline.txt"))
	if err != nil {
		t.Fatal(err)
	}
	return &timeline{t: t, began: time.Now(), file: f}
}

// add notes something.
func (l *timeline) add(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file == nil {
		return
	}
	line := fmt.Sprintf("%8.3f  ", time.Since(l.began).Seconds()) + fmt.Sprintf(format, args...)
	fmt.Fprintln(l.file, line)
	l.t.Log(line)
}

// close ends the record; what comes later is dropped.
func (l *timeline) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.file != nil {
		_ = l.file.Close() // it is for people to read
		l.file = nil
	}
}
