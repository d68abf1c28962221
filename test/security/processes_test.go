//go:build linux

package security

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// watch looks at the command line and the environment of every process that the program starts, from when it is seen, until
// stop is called. The program itself is given its secrets by its environment.
func watch(t *testing.T, h *hunt, parents *parents) (stop func() map[string]int) {
	t.Helper()
	seen := map[string]int{}
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		known := map[int]bool{}
		for {
			select {
			case <-done:
				return
			case <-time.After(2 * time.Millisecond):
				look(h, parents, known, seen)
			}
		}
	}()
	return func() map[string]int {
		close(done)
		<-ended
		return seen
	}
}

// parents are the processes that a test has started.
type parents struct {
	mu   sync.Mutex // guards the following
	pids map[int]bool
}

func (p *parents) add(pid int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pids[pid] = true
}

func (p *parents) has(pid int) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pids[pid]
}

func look(h *hunt, parents *parents, known map[int]bool, seen map[string]int) {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	of := map[int]int{}
	for _, dir := range dirs {
		pid, _ := strconv.Atoi(filepath.Base(dir))
		of[pid] = parent(dir)
	}
	for pid := range of {
		if known[pid] || parents.has(pid) || !descends(pid, of, parents) {
			continue
		}
		dir := "/proc/" + strconv.Itoa(pid)
		args, err1 := os.ReadFile(dir + "/cmdline")
		environ, err2 := os.ReadFile(dir + "/environ")
		if err1 != nil || err2 != nil || len(args) == 0 {
			continue // it has ended, or is about to
		}
		kind := kindOf(args)
		if kind == "" {
			continue // between fork and exec it still is its parent
		}
		known[pid] = true
		seen[kind]++
		h.search("processes", "command line of "+kind, args)
		h.search("processes", "environment of "+kind, environ)
	}
}

func kindOf(args []byte) string {
	switch {
	case bytes.Contains(args, []byte("spade-plugin-native")):
		return "plugin"
	case bytes.Contains(args, []byte("\x00__")):
		return "worker"
	}
	return ""
}

func descends(pid int, of map[int]int, parents *parents) bool {
	for range 8 {
		if pid = of[pid]; pid <= 1 {
			return false
		}
		if parents.has(pid) {
			return true
		}
	}
	return false
}

// parent is the fourth field of stat, after a name in parentheses.
func parent(dir string) int {
	stat, err := os.ReadFile(dir + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat[bytes.LastIndexByte(stat, ')')+1:]), " ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	pid, _ := strconv.Atoi(fields[1])
	return pid
}
