package gym

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/sandbox/cgroup"
	"github.com/seed256f7767/spade/internal/sandbox/maker"
)

// traces is what environments could leave behind on a machine.
type traces struct {
	processes, descriptors, mounts, groups, files, threads int
	rss                                                    uint64
}

func traced(t testing.TB) traces {
	t.Helper()
	name, err := maker.Name(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	count := func(patterns ...string) int {
		n := 0
		for _, pattern := range patterns {
			found, err := filepath.Glob(pattern)
			if err != nil {
				t.Fatal(err)
			}
			n += len(found)
		}
		return n
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	groups := 0
	if parent, err := cgroup.Find(); err == nil {
		if groups, err = parent.Count(name); err != nil {
			t.Fatal(err)
		}
	} else if !errors.Is(err, cgroup.ErrUnavailable) {
		t.Fatal(err)
	}
	temp := os.TempDir()
	runtime.GC()
	return traces{
		processes: len(children(t, os.Getpid())), descriptors: len(descriptors(t, os.Getpid())), mounts: strings.Count(string(mounts), "\n"),
		groups: groups, files: count(temp+"/"+filesPrefix+name+"*", temp+"/spade-canary-*"),
		threads: count("/proc/self/task/*"), rss: ownRSS(),
	}
}

// Thousands of environments, some of which are killed or kill themselves, leave nothing behind. SPADE_TEST_SOAK is how many.
func TestSoak(t *testing.T) {
	total := int64(60)
	if n, err := strconv.ParseInt(os.Getenv("SPADE_TEST_SOAK"), 10, 64); err == nil {
		total = n
	}
	before := traced(t)
	p, err := NewPool(Config{}, Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	soak(t, p, 20) // caches of the runtime fill once
	filled := traced(t)
	began := time.Now()
	soak(t, p, total)
	took := time.Since(began)
	after := traced(t)
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	ended := traced(t)
	t.Logf("%d environments in %v, %.1f a second; resident memory %d MB, then %d MB", total, took.Round(time.Second),
		float64(total)/took.Seconds(), filled.rss>>20, after.rss>>20)
	if ended.processes != 0 || ended.mounts != before.mounts || ended.groups != before.groups || ended.files != before.files {
		t.Errorf("before %+v, after %+v", before, ended)
	}
	if ended.descriptors > before.descriptors+2 { // the runtime's own poller may have begun
		t.Errorf("descriptors: %d before, %d after", before.descriptors, ended.descriptors)
	}
	if ended.threads > before.threads+8 {
		t.Errorf("threads: %d before, %d after", before.threads, ended.threads)
	}
	if after.rss > filled.rss+16<<20 {
		t.Errorf("resident memory: %d MB before, %d MB after", filled.rss>>20, after.rss>>20)
	}
}

// soak plays many environments, as many at a time as the pool allows.
func soak(t *testing.T, p *Pool, total int64) {
	t.Helper()
	var left atomic.Int64
	left.Store(total)
	var group sync.WaitGroup
	for range runtime.NumCPU() {
		group.Go(func() {
			for n := left.Add(-1); n >= 0; n = left.Add(-1) {
				if err := live(t, p, n); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	group.Wait()
}

// live is the life of one environment; every seventh is cut short.
func live(t *testing.T, p *Pool, n int64) error {
	code := fmt.Sprintf("# %d\n", n) + countingPython
	w, err := p.Open(t.Context(), Source{Runtime: RuntimePython, Code: code})
	if err != nil {
		return err
	}
	_, err = w.Reset(t.Context(), []Reset{{Episode: 0}, {Episode: 1}})
	if err == nil && n%7 == 0 {
		err = syscall.Kill(w.proc.cmd.Process.Pid, syscall.SIGKILL)
	}
	if err == nil {
		var got []Stepped
		got, err = w.Step(t.Context(), []Action{{Episode: 0, Text: "up"}, {Episode: 1, Text: "stay"}})
		if err == nil && (got[0].Observation != "1 of 5" || got[1].Observation != "0 of 5") {
			err = fmt.Errorf("environment %d: %+v", n, got)
		}
	}
	return errors.Join(err, w.Close())
}
