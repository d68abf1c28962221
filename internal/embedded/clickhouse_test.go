package embedded_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/embedded"
)

// withClickHouse takes a lease on all three services.
func withClickHouse(t *testing.T, cfg embedded.Config) *embedded.Lease {
	t.Helper()
	l, err := embedded.Connect(t.Context(), cfg, embedded.Settings{Purpose: "test"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		waitGone(t, l.SupervisorPID())
	})
	return l
}

// query asks ClickHouse; it returns nothing while the server is away.
func query(t *testing.T, e embedded.Endpoints, sql string) string {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, e.ClickHouse.URL, strings.NewReader(sql))
	if err != nil {
		t.Fatal(err)
	}
	req.SetBasicAuth(e.ClickHouse.User, e.ClickHouse.Password.Reveal())
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	res, err := client.Do(req)
	if err != nil {
		return ""
	}
	b, err := io.ReadAll(res.Body)
	if err := errors.Join(err, res.Body.Close()); err != nil {
		return ""
	}
	if res.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s", sql, b)
	}
	return strings.TrimSpace(string(b))
}

func TestAKilledServerComesBackAtItsAddress(t *testing.T) {
	l := withClickHouse(t, config(t))
	e := waitReady(t, l)
	query(t, e, "CREATE TABLE kept (n UInt8) ENGINE = MergeTree ORDER BY n")
	query(t, e, "INSERT INTO kept VALUES (7)")
	pid := l.Status()[embedded.ClickHouse].PID
	kill(t, pid)
	eventually(t, "it answers again", func() bool { return query(t, e, "SELECT n FROM kept") == "7" })
	if now := l.Status()[embedded.ClickHouse]; now.PID == pid || now.PID == 0 {
		eventually(t, "the lease is told", func() bool { return l.Status()[embedded.ClickHouse].PID != pid })
	}
	if after := waitReady(t, l); after.ClickHouse.URL != e.ClickHouse.URL {
		t.Errorf("%s became %s", e.ClickHouse.URL, after.ClickHouse.URL)
	}
}

func TestNoServerOutlivesAKilledSupervisor(t *testing.T) {
	cfg := config(t)
	l := withClickHouse(t, cfg)
	e := waitReady(t, l)
	query(t, e, "CREATE TABLE kept (n UInt8) ENGINE = MergeTree ORDER BY n")
	query(t, e, "INSERT INTO kept VALUES (7)")
	server, pid := l.Status()[embedded.ClickHouse].PID, l.SupervisorPID()
	kill(t, pid)
	waitGone(t, server)
	eventually(t, "another supervisor", func() bool { return l.SupervisorPID() != pid })
	if got := query(t, waitReady(t, l), "SELECT n FROM kept"); got != "7" {
		t.Errorf("the table holds %q", got)
	}
}

func TestAMissingLibraryStopsOnlyClickHouse(t *testing.T) {
	cfg := config(t)
	cfg.Library = filepath.Join(t.TempDir(), "libchdb.so")
	l := withClickHouse(t, cfg)
	waitReady(t, l, embedded.Kafka, embedded.Qdrant)
	_, err := l.Wait(t.Context(), embedded.ClickHouse)
	var failed *embedded.ServiceError
	if !errors.As(err, &failed) || failed.Service != embedded.ClickHouse || !strings.Contains(err.Error(), cfg.Library) {
		t.Errorf("got %v", err)
	}
	if s := l.Status()[embedded.ClickHouse]; s.Phase != "failed" || s.Error == "" {
		t.Errorf("status %s", fmt.Sprintf("%+v", s))
	}
}

// lockClickHouse takes the lock of the ClickHouse folder, as a server does that is still dying. Closing the file, and
// every copy of it, gives the lock back.
func lockClickHouse(t *testing.T, cfg embedded.Config) (lock *os.File, dir string) {
	t.Helper()
	dir = filepath.Join(cfg.Dir, "clickhouse")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.Dir, "format.json"), []byte(`{"format": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(filepath.Join(dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Close() }) // the test may have closed it
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	return lock, dir
}

func TestClickHouseWaitsForItsFolder(t *testing.T) {
	cfg := config(t)
	lock, _ := lockClickHouse(t, cfg)
	l := withClickHouse(t, cfg)
	waitReady(t, l, embedded.Kafka)
	// As long as a server with much memory takes to die on a busy machine.
	for deadline := time.Now().Add(3 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if s := l.Status()[embedded.ClickHouse]; s.Phase == "failed" {
			t.Fatalf("it gave up: %s", s.Error)
		}
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	waitReady(t, l, embedded.ClickHouse)
}

func TestAServerWithoutASupervisorIsEnded(t *testing.T) {
	cfg := config(t)
	lock, dir := lockClickHouse(t, cfg)
	// What is in a list of processes is all that tells what it is.
	stale := exec.CommandContext(t.Context(), "/bin/sh", "-c", "read x", "__chdb", "--dir", dir)
	stale.ExtraFiles = []*os.File{lock}
	in, err := stale.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := stale.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprintln(lock, stale.Process.Pid); err != nil {
		t.Fatal(err)
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	waitReady(t, withClickHouse(t, cfg), embedded.ClickHouse)
	var exit *exec.ExitError
	if err := stale.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Errorf("it ended with %v", err)
	}
	_ = in.Close() // Wait has closed it
}
