package embedded_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/embedded"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

const linger = 300 * time.Millisecond

func config(t *testing.T) embedded.Config {
	t.Helper()
	return embedded.Config{Dir: filepath.Join(t.TempDir(), "data"), Linger: linger}
}

// light are the services that start fast and need nothing installed.
var light = embedded.Settings{Purpose: "test", Services: []embedded.Service{embedded.Kafka, embedded.Qdrant}}

// connect takes a lease; when the test ends it is given back and the folder's
// supervisor has ended.
func connect(t *testing.T, cfg embedded.Config) *embedded.Lease {
	t.Helper()
	l, err := embedded.Connect(t.Context(), cfg, light)
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

func waitReady(t *testing.T, l *embedded.Lease, services ...embedded.Service) embedded.Endpoints {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	e, err := l.Wait(ctx, services...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// eventually waits until cond holds.
func eventually(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !cond(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("never: %s", what)
		}
	}
}

// alive reports whether a process runs; one that nobody has waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	_, after, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(after, "Z")
}

func waitGone(t *testing.T, pid int) {
	t.Helper()
	eventually(t, fmt.Sprintf("process %d ends", pid), func() bool { return !alive(pid) })
}

func kill(t *testing.T, pid int) {
	t.Helper()
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

// anything goes: what these tests write is no run's.
func anything(event.Event) error { return nil }

// client opens the log of a lease.
func client(t *testing.T, e embedded.Endpoints) *bus.Client {
	t.Helper()
	c, err := bus.New(e.Kafka, bus.Settings{Check: anything})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := c.EnsureTopics(t.Context(), topics.All(2)); err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t *testing.T, c *bus.Client, name string) {
	t.Helper()
	ev := event.Event{
		Topic: topics.Runs, Key: "k", Type: "spade.v1.RunStarted", ID: uuid.NewSHA1(uuid.Nil, []byte(name)),
		Payload: []byte(name), Time: time.Unix(0, 0),
	}
	if err := c.Append(t.Context(), ev); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, c *bus.Client) (got []string) {
	t.Helper()
	err := c.Read(t.Context(), topics.Runs, nil, nil, func(ev event.Event) error {
		got = append(got, string(ev.Payload))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestTheSupervisorOutlivesALeaseByItsLinger(t *testing.T) {
	cfg := config(t)
	cfg.Linger = 15 * time.Second
	first := connect(t, cfg)
	waitReady(t, first)
	pid := first.SupervisorPID()
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	if err := first.Err(); !errors.Is(err, embedded.ErrEnded) {
		t.Errorf("a closed lease says %v", err)
	}
	second := connect(t, cfg)
	if second.SupervisorPID() != pid {
		t.Error("a second lease within the linger got another supervisor")
	}
	if err := second.Close(); err != nil {
		t.Fatal(err)
	}
	// Nothing is left to see of the linger.
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
}

func TestTheSupervisorEndsAfterItsLinger(t *testing.T) {
	cfg := config(t)
	first := connect(t, cfg)
	e := waitReady(t, first)
	write(t, client(t, e), "one")
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	waitGone(t, first.SupervisorPID())

	second := connect(t, cfg)
	again := waitReady(t, second)
	if again.Kafka.Brokers[0] != e.Kafka.Brokers[0] || again.Qdrant.Addr != e.Qdrant.Addr {
		t.Errorf("the addresses moved: %v, %v", again.Kafka.Brokers, e.Kafka.Brokers)
	}
	if got := read(t, client(t, again)); len(got) != 1 {
		t.Errorf("the log holds %v", got)
	}
}

func TestClientsThatRaceToStartShareOneSupervisor(t *testing.T) {
	cfg := config(t)
	var wg sync.WaitGroup
	pids := make([]int, 5)
	t.Cleanup(func() { waitGone(t, pids[0]) })
	for i := range pids {
		wg.Go(func() {
			l, err := embedded.Connect(t.Context(), cfg, light)
			if err != nil {
				t.Error(err)
				return
			}
			t.Cleanup(func() {
				if err := l.Close(); err != nil {
					t.Error(err)
				}
			})
			waitReady(t, l)
			pids[i] = l.SupervisorPID()
		})
	}
	wg.Wait()
	for _, pid := range pids {
		if pid != pids[0] || pid == 0 {
			t.Fatalf("supervisors %v", pids)
		}
	}
}

const clientCommand = "__test-client"

func TestAKilledSupervisorIsReplaced(t *testing.T) {
	cfg := config(t)
	l := connect(t, cfg)
	e := waitReady(t, l)
	c := client(t, e)
	write(t, c, "one")
	pid := l.SupervisorPID()
	kill(t, pid)
	write(t, c, "two")
	if got := read(t, c); fmt.Sprint(got) != "[one two]" {
		t.Errorf("the log holds %v", got)
	}
	eventually(t, "the lease has another supervisor", func() bool { return l.SupervisorPID() != pid })
	if after := waitReady(t, l); after.Kafka.Brokers[0] != e.Kafka.Brokers[0] || after.Qdrant.Addr != e.Qdrant.Addr ||
		after.Kafka.ClientID != e.Kafka.ClientID {
		t.Error("the endpoints changed")
	}
	if l.Err() != nil {
		t.Errorf("the lease ended: %v", l.Err())
	}
}

func TestTheSupervisorEndsWhenAsked(t *testing.T) {
	cfg := config(t)
	l := connect(t, cfg)
	waitReady(t, l)
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	again := connect(t, cfg)
	pid := again.SupervisorPID()
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	waitGone(t, pid)
}

func TestAnotherFormatIsRefused(t *testing.T) {
	cfg := config(t)
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.Dir, "format.json"), []byte(`{"format": 99}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := embedded.Connect(t.Context(), cfg, light)
	if !errors.Is(err, embedded.ErrFormat) || !strings.Contains(err.Error(), "99") || !strings.Contains(err.Error(), cfg.Dir) {
		t.Errorf("got %v", err)
	}
}

func TestALockedFolderIsNamed(t *testing.T) {
	cfg := config(t)
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	lock, err := os.Create(filepath.Join(cfg.Dir, "lock"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := lock.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	if _, err := lock.WriteString(`{"pid": 77, "host": "elsewhere"}`); err != nil {
		t.Fatal(err)
	}
	// A slow machine may not have asked for the lock after a second.
	for _, patience := range []time.Duration{time.Second, time.Minute} {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		_, err = embedded.Connect(ctx, cfg, light)
		cancel()
		if errors.Is(err, embedded.ErrLocked) {
			break
		}
	}
	if !errors.Is(err, embedded.ErrLocked) || !strings.Contains(err.Error(), "77 on elsewhere") {
		t.Errorf("got %v", err)
	}
}

// lockedThenSilent is a supervisor that is refused the folder, and at its second
// start says nothing; it makes the file named silent then.
const lockedThenSilent = `
if mkdir "$0/began"; then
	echo '{"class": "locked", "error": "in use by process 77 on elsewhere"}'
else
	touch "$0/silent"
	exec sleep 600
fi`

// A client may be stopped while it starts a supervisor again; what it waited for
// is still the lock.
func TestALockedFolderIsNamedByAClientThatIsStopped(t *testing.T) {
	dir := t.TempDir()
	set := light
	set.Command = []string{"sh", "-c", lockedThenSilent, dir}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	got := make(chan error, 1)
	go func() {
		_, err := embedded.Connect(ctx, config(t), set)
		got <- err
	}()
	eventually(t, "a supervisor is silent", func() bool {
		_, err := os.Stat(filepath.Join(dir, "silent"))
		return err == nil
	})
	cancel()
	err := <-got
	if !errors.Is(err, embedded.ErrLocked) || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "77 on elsewhere") {
		t.Errorf("got %v", err)
	}
}

func TestATakenPortIsNamedOrEvaded(t *testing.T) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ln.Close(); err != nil {
			t.Error(err)
		}
	}()
	taken := ln.Addr().String()

	fixed := config(t)
	fixed.Addresses = map[embedded.Service]string{embedded.Kafka: taken}
	l := connect(t, fixed)
	_, err = l.Wait(t.Context(), embedded.Kafka)
	var failed *embedded.ServiceError
	if !errors.As(err, &failed) || failed.Service != embedded.Kafka || !strings.Contains(err.Error(), taken) {
		t.Errorf("got %v", err)
	}
	waitReady(t, l, embedded.Qdrant)

	remembered := config(t)
	if err := os.MkdirAll(remembered.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(remembered.Dir, "addresses.json"), []byte(`{"kafka": "`+taken+`"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if e := waitReady(t, connect(t, remembered), embedded.Kafka); e.Kafka.Brokers[0] == taken {
		t.Error("the broker has a port that is taken")
	}
}

func TestServicesElsewhereAreNotStarted(t *testing.T) {
	external := embedded.Endpoints{
		Kafka:      bus.Config{Brokers: []string{"kafka:9092"}},
		ClickHouse: embedded.ClickHouseEndpoint{URL: "http://clickhouse:8123"},
		Qdrant:     embedded.QdrantEndpoint{Addr: "qdrant:6334"},
	}
	all, err := embedded.Connect(t.Context(), embedded.Config{External: external}, embedded.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if e := waitReady(t, all); e.Kafka.Brokers[0] != "kafka:9092" || all.SupervisorPID() != 0 {
		t.Errorf("got %+v", e)
	}
	if err := all.Close(); err != nil {
		t.Fatal(err)
	}
	<-all.Done()

	cfg := config(t)
	cfg.External = embedded.Endpoints{Kafka: external.Kafka, ClickHouse: external.ClickHouse}
	some := connect(t, cfg)
	e := waitReady(t, some)
	if e.Kafka.Brokers[0] != "kafka:9092" || e.Qdrant.Addr == "" {
		t.Errorf("got %+v", e)
	}
	if _, err := os.Stat(filepath.Join(cfg.Dir, "kafka")); !errors.Is(err, os.ErrNotExist) {
		t.Error("the embedded Kafka was started as well")
	}
}

func TestConfigIsChecked(t *testing.T) {
	_, err := embedded.Connect(t.Context(), embedded.Config{
		Linger: -1, Addresses: map[embedded.Service]string{"zookeeper": "127.0.0.1:1"},
	}, light)
	for _, want := range []string{"data folder", "linger", "zookeeper"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %q", err, want)
		}
	}
}

func TestWaitSaysWhatItWaitsFor(t *testing.T) {
	l := connect(t, config(t))
	var failed *embedded.ServiceError
	if _, err := l.Wait(t.Context(), embedded.ClickHouse); !errors.As(err, &failed) || failed.Service != embedded.ClickHouse {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := l.Wait(ctx); err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestSecretsAreOnlyInTheirFileAndInEnv(t *testing.T) {
	cfg := config(t)
	l := connect(t, cfg)
	e := waitReady(t, l)
	env := strings.Join(e.Env(), "\n")
	for _, s := range []secret.Text{e.Kafka.Password, e.Qdrant.APIKey} {
		if s.IsZero() || !strings.Contains(env, s.Reveal()) {
			t.Errorf("a secret is missing from\n%s", env)
		}
		if strings.Contains(fmt.Sprintf("%v %+v %#v", e, e, e), s.Reveal()) {
			t.Error("a secret is printed")
		}
	}
	if cmdline, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", l.SupervisorPID())); err == nil &&
		strings.Contains(string(cmdline), e.Kafka.Password.Reveal()) {
		t.Error("a secret is on the supervisor's command line")
	}
	err := filepath.WalkDir(cfg.Dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || d.Name() == "secrets.json" {
			return err
		}
		b, err := os.ReadFile(path)
		if err == nil && strings.Contains(string(b), e.Kafka.Password.Reveal()) {
			t.Errorf("a secret is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
