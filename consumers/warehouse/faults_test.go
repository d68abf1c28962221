package warehouse

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/internal/bus/bustest"
	embedded "github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// cutter forwards connections to a server and breaks them: every few answers it reads the server's answer, so that the
// statement has been executed, and closes the connection instead of passing it on.
type cutter struct {
	net.Listener
	server  string
	every   int64
	answers atomic.Int64
	cut     atomic.Int64
	wg      sync.WaitGroup
}

func newCutter(t *testing.T, server string, every int64) *cutter {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &cutter{Listener: l, server: server, every: every}
	c.wg.Go(c.accept)
	t.Cleanup(func() { _ = l.Close(); c.wg.Wait() })
	return c
}

func (c *cutter) accept() {
	for {
		client, err := c.Accept()
		if err != nil {
			return
		}
		c.wg.Go(func() { c.forward(client) })
	}
}

func (c *cutter) forward(client net.Conn) {
	defer client.Close()
	server, err := new(net.Dialer).DialContext(context.Background(), "tcp", c.server)
	if err != nil {
		return
	}
	defer server.Close()
	c.wg.Go(func() {
		pump(server, client, func() bool { return true })
		_ = server.Close()
	})
	pump(client, server, func() bool {
		if c.answers.Add(1)%c.every != 0 {
			return true
		}
		c.cut.Add(1)
		return false
	})
}

// pump copies until an end or until pass refuses what was read.
func pump(to, from net.Conn, pass func() bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 && !pass() {
			return
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// TestLostAcknowledgement: the server has executed statements whose answers never came; each is in the tables once.
func TestLostAcknowledgement(t *testing.T) {
	server, direct := olaptest.Start(t)
	c := newCutter(t, server.Addr(), 6)
	conn, err := olap.Open(olap.Config{
		URL: "http://" + c.Addr().String(), User: clickhousetest.User, Password: secret.New(clickhousetest.Password),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	l := makeLog(rand.New(rand.NewPCG(61, 62)), 25)
	s := testSink(t, NewClickHouse(conn), memory.DefaultAllocator, func(event.Record) {})
	if err := live(t.Context(), t, s, l, map[string]int64{}, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	wantLog(t, direct, l, l.topics())
	if c.cut.Load() < 3 || s.Stats().Retries == 0 {
		t.Errorf("%d answers were lost, %d retries", c.cut.Load(), s.Stats().Retries)
	}
}

// TestServerKilled kills the warehouse's server while the sink runs and brings it back: the sink waits and goes on.
func TestServerKilled(t *testing.T) {
	const partitions = 2
	broker := bustest.Open(t)
	client := broker.Client(t)
	if err := client.EnsureTopics(t.Context(), topics.All(partitions)); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	server := clickhousetest.StartIn(t, dir)
	olaptest.Install(t, olaptest.Open(t, server))
	conn := olaptest.Open(t, server)
	events := everyKind(t, 30)
	s := busSink(t, client, NewClickHouse(conn), partitions)
	run(t, s, func() {
		third := len(events) / 3
		if err := client.Append(t.Context(), events[:third]...); err != nil {
			t.Fatal(err)
		}
		if err := s.WaitFor(t.Context(), ends(t, client)); err != nil {
			t.Fatal(err)
		}
		if err := client.Append(t.Context(), events[third:2*third]...); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Kill(server.PID(), syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		<-server.Done()
		if err := client.Append(t.Context(), events[2*third:]...); err != nil {
			t.Fatal(err)
		}
		cfg := clickhousetest.Config(dir)
		cfg.Addr = server.Addr()
		again, err := embedded.New(cfg, embedded.Settings{})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
			defer cancel()
			if err := again.Shutdown(ctx); err != nil {
				t.Error(err)
			}
		})
		if err := again.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		for range 2 { // the poison's dead letter is appended meanwhile
			if err := s.WaitFor(t.Context(), ends(t, client)); err != nil {
				t.Fatal(err)
			}
		}
		wantLog(t, conn, client, topicNames())
	})
}

// TestTimes: times keep their microseconds wherever the server or a session believes to be.
func TestTimes(t *testing.T) {
	t.Setenv("TZ", "Asia/Seoul")
	_, conn := olaptest.Start(t)
	seoul := time.FixedZone("", 9*3600)
	for i, at := range []time.Time{
		time.Date(1900, 1, 1, 0, 0, 0, 1000, time.UTC), time.Date(1969, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
		time.Unix(0, 0), time.Date(2026, 3, 29, 1, 30, 0, 123_456_000, time.UTC), time.Date(2026, 10, 25, 10, 30, 0, 1000, seoul),
		time.Date(2299, 12, 31, 23, 59, 59, 999_999_000, time.UTC),
	} {
		ev := olaptest.Story(t)[0]
		ev.Time, ev.Offset, ev.LastOffset = at, int64(i), int64(i)
		olaptest.Fill(t, conn, []event.Event{ev})
		const format = "2006-01-02 15:04:05.000000"
		for _, session := range []string{"UTC", "Asia/Seoul", "America/New_York"} {
			query := "SELECT toString(event_time) FROM spade.document_events ORDER BY kafka_offset DESC LIMIT 1 SETTINGS session_timezone = '" + session + "'"
			if got, want := olaptest.Value[string](t, conn, query), at.UTC().Format(format); got != want {
				t.Errorf("in %s: %s, want %s", session, got, want)
			}
		}
	}
	if lag := olaptest.Value[uint64](t, conn, "SELECT max(abs(dateDiff('second', ingested_at, now64(6, 'UTC')))) FROM spade.document_events"); lag > 60 {
		t.Errorf("ingested_at is %d s away from now", lag)
	}
}
