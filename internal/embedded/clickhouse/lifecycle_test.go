package clickhouse_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/chdblib"
	embedded "github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
)

func newServer(t *testing.T, cfg embedded.Config, set embedded.Settings) *embedded.Server {
	t.Helper()
	s, err := embedded.New(cfg, set)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { shutdown(t, s) })
	return s
}

func shutdown(t *testing.T, s *embedded.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Error(err)
	}
}

func TestLifecycle(t *testing.T) {
	s := newServer(t, clickhousetest.Config(t.TempDir()), embedded.Settings{})
	if s.Addr() != "" || s.URL() != "" || s.PID() != 0 {
		t.Error("a server that was not started has an address")
	}
	shutdown(t, s)
	shutdown(t, s)
	if err := s.Start(t.Context()); err == nil {
		t.Error("a server started after its shutdown")
	}

	dir := t.TempDir()
	s = newServer(t, clickhousetest.Config(dir), embedded.Settings{})
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err == nil {
		t.Error("a server started twice")
	}
	newClient(t, s).must("CREATE TABLE kept (a Int8) ENGINE = MergeTree ORDER BY a")
	newClient(t, s).must("INSERT INTO kept VALUES (1)")
	shutdown(t, s)
	shutdown(t, s)
	select {
	case <-s.Done():
	default:
		t.Error("Done is open after Shutdown")
	}
	if s.Err() != nil {
		t.Errorf("a shutdown is reported as %v", s.Err())
	}
	if got := newClient(t, clickhousetest.StartIn(t, dir)).must("SELECT count() FROM kept"); got != "1" {
		t.Errorf("%s rows after a restart", got)
	}
}

func TestShutdownStopsStatements(t *testing.T) {
	s := clickhousetest.Start(t)
	c := newClient(t, s)
	got := make(chan reply, 1)
	go func() { got <- c.post(slowQuery, "query_id", "slow") }()
	c.awaitRunning("slow", "1")
	shutdown(t, s)
	if r := <-got; r.header.Get("X-ClickHouse-Exception-Code") != "394" {
		t.Errorf("the running statement ended with %+v", r)
	}
}

func TestStartErrors(t *testing.T) {
	start := func(change func(*embedded.Config), set embedded.Settings) error {
		cfg := clickhousetest.Config(t.TempDir())
		change(&cfg)
		return newServer(t, cfg, set).Start(t.Context())
	}
	t.Run("library missing", func(t *testing.T) {
		err := start(func(c *embedded.Config) { c.Library.Path = "/nowhere/libchdb.so" }, embedded.Settings{})
		if !errors.Is(err, chdblib.ErrMissing) {
			t.Error(err)
		}
	})
	t.Run("library damaged", func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "libchdb.so")
		if err := os.WriteFile(path, []byte("no library"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := start(func(c *embedded.Config) { c.Library.Path = path }, embedded.Settings{})
		if !errors.Is(err, embedded.ErrLibrary) {
			t.Error(err)
		}
	})
	t.Run("address taken", func(t *testing.T) {
		l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() //nolint:errcheck // ends with the test
		err = start(func(c *embedded.Config) { c.Addr = l.Addr().String() }, embedded.Settings{})
		if !errors.Is(err, embedded.ErrAddress) || !strings.Contains(err.Error(), l.Addr().String()) {
			t.Error(err)
		}
	})
	t.Run("folder in use", func(t *testing.T) {
		dir := t.TempDir()
		s := clickhousetest.StartIn(t, dir)
		err := start(func(c *embedded.Config) { c.Dir = dir }, embedded.Settings{})
		if !errors.Is(err, embedded.ErrLocked) || !strings.Contains(err.Error(), strconv.Itoa(s.PID())) {
			t.Error(err)
		}
	})
	t.Run("folder unusable", func(t *testing.T) {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "data"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := start(func(c *embedded.Config) { c.Dir = dir }, embedded.Settings{}); !errors.Is(err, embedded.ErrFolder) {
			t.Error(err)
		}
	})
	t.Run("folder damaged", func(t *testing.T) {
		dir := t.TempDir()
		shutdown(t, clickhousetest.StartIn(t, dir))
		if err := os.WriteFile(filepath.Join(dir, "data", "metadata", "spade.sql"), []byte("garbage"), 0o600); err != nil {
			t.Fatal(err)
		}
		err := start(func(c *embedded.Config) { c.Dir = dir }, embedded.Settings{})
		if !errors.Is(err, embedded.ErrFolder) || !strings.Contains(err.Error(), "spade.sql") || !strings.Contains(err.Error(), "rebuilt from the event log") {
			t.Error(err)
		}
	})
	t.Run("another program", func(t *testing.T) {
		err := start(func(*embedded.Config) {}, embedded.Settings{Command: []string{"/bin/echo", "hello there"}})
		if err == nil || !strings.Contains(err.Error(), "hello there") {
			t.Error(err)
		}
		err = start(func(*embedded.Config) {}, embedded.Settings{Command: []string{"/bin/sh", "-c", "echo oops >&2; exit 3"}})
		if err == nil || !strings.Contains(err.Error(), "oops") {
			t.Error(err)
		}
	})
	t.Run("no answer", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		s := newServer(t, clickhousetest.Config(t.TempDir()), embedded.Settings{Command: []string{"/bin/sh", "-c", "exec sleep 3600"}})
		if err := s.Start(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
	t.Run("config", func(t *testing.T) {
		_, err := embedded.New(embedded.Config{Addr: "0.0.0.0:8123", User: embedded.Reader}, embedded.Settings{})
		for _, problem := range []string{"data folder", "password", "reader", "loopback"} {
			if err == nil || !strings.Contains(err.Error(), problem) {
				t.Errorf("%q is not in %v", problem, err)
			}
		}
	})
}

// A child that is killed while it writes loses nothing that it acknowledged, and a retry of what it did not
// acknowledge lands once.
func TestKilledChild(t *testing.T) {
	dir := t.TempDir()
	const rows, rounds = 5000, 6
	insert := func(n int) string {
		return fmt.Sprintf("INSERT INTO killed SETTINGS insert_deduplication_token = 'round %d' SELECT number + %d, repeat('x', 100) FROM numbers(%d)", n, n*rows, rows)
	}
	acknowledged := 0
	for round := range rounds {
		s := clickhousetest.StartIn(t, dir)
		c := newClient(t, s)
		c.must("CREATE TABLE IF NOT EXISTS killed (a UInt64, s String) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 100, fsync_after_insert = 0")
		time.AfterFunc(time.Duration(5+round*23)*time.Millisecond, func() { _ = syscall.Kill(s.PID(), syscall.SIGKILL) })
		for alive := true; alive; {
			select {
			case <-s.Done():
				alive = false
			default:
				if c.try(insert(acknowledged)) {
					acknowledged++
				}
			}
		}
		if err := s.Err(); !errors.Is(err, embedded.ErrDied) {
			t.Errorf("the end of a killed child is reported as %v", err)
		}
	}
	c := newClient(t, clickhousetest.StartIn(t, dir))
	c.must(insert(acknowledged)) // the one in flight
	want := (acknowledged + 1) * rows
	if got := c.must("SELECT count(), uniqExact(a), max(a) + 1 FROM killed"); got != fmt.Sprintf("%d\t%d\t%d", want, want, want) {
		t.Errorf("%s, want %d of each, after %d kills", got, want, rounds)
	}
	t.Logf("%d inserts acknowledged between %d kills", acknowledged, rounds)
}

// The worst moment: the token of an insert is on the disk and its rows are not in place. The retry must land.
func TestKilledBetweenTokenAndRows(t *testing.T) {
	dir := t.TempDir()
	const rows, rounds = 100, 8
	insert := func(n int) string {
		return fmt.Sprintf("INSERT INTO killed SETTINGS insert_deduplication_token = 'round %d' SELECT number + %d FROM numbers(%d)", n, n*rows, rows)
	}
	done := 0
	for range rounds {
		s := clickhousetest.StartIn(t, dir)
		c := newClient(t, s)
		c.must("CREATE TABLE IF NOT EXISTS killed (a UInt64) ENGINE = MergeTree ORDER BY a SETTINGS non_replicated_deduplication_window = 1000")
		c.must(insert(done)) // the one in flight when the last server was killed
		done++
		if got, want := c.must("SELECT count(), uniqExact(a) FROM killed"), fmt.Sprintf("%d\t%d", done*rows, done*rows); got != want {
			t.Fatalf("%s, want %s: a retry was lost or doubled", got, want)
		}
		go killWhenLogGrows(dir, s)
		for alive := true; alive; {
			select {
			case <-s.Done():
				alive = false
			default:
				if c.try(insert(done)) {
					done++
				}
			}
		}
	}
}

// killWhenLogGrows kills the server as soon as it has written a token.
func killWhenLogGrows(dir string, s *embedded.Server) {
	var size int64 = -1
	for {
		select {
		case <-s.Done():
			return
		default:
		}
		logs, err := filepath.Glob(filepath.Join(dir, "data", "store", "*", "*", "deduplication_logs", "*.txt"))
		if err != nil || len(logs) != 1 {
			continue
		}
		info, err := os.Stat(logs[0])
		switch {
		case err != nil:
		case size < 0:
			size = info.Size()
		case info.Size() > size:
			_ = syscall.Kill(s.PID(), syscall.SIGKILL)
			return
		}
	}
}

// try sends a statement to a server that may die under it, and reports whether it was acknowledged.
func (c client) try(sql string) bool {
	req, err := http.NewRequestWithContext(c.t.Context(), http.MethodPost, c.base, strings.NewReader(sql))
	if err != nil {
		c.t.Fatal(err)
	}
	req.SetBasicAuth(c.user, c.password)
	resp, err := c.http.Do(req)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, resp.Body)
	return errors.Join(err, resp.Body.Close()) == nil && resp.StatusCode == http.StatusOK
}

// parentEnv makes the test binary a parent that starts a server, prints the child's id and waits to be killed.
const parentEnv = "SPADE_TEST_PARENT_DIR"

func parentMain(dir string) {
	s, err := embedded.New(clickhousetest.Config(dir), embedded.Settings{})
	if err == nil {
		err = s.Start(context.Background())
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(s.PID(), s.URL())
	select {}
}

// alive reports whether a process runs. One that nobody has waited for does not,
// once its last other thread has ended: only then has it let go of its files.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(after)
	state, threads := fields[0], fields[17]
	return state != "Z" || threads != "1"
}

func TestKilledParent(t *testing.T) {
	dir := t.TempDir()
	parent := exec.Command(os.Args[0]) //nolint:noctx // killed below
	parent.Env = append(os.Environ(), parentEnv+"="+dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(line, " ")
	pid, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("the parent said %q", line)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatalf("the child does not run: %v", err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	for deadline := time.Now().Add(time.Minute); alive(pid); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the child outlives its parent")
		}
	}
	if got := newClient(t, clickhousetest.StartIn(t, dir)).must("SELECT 1"); got != "1" {
		t.Errorf("got %q", got)
	}
}
