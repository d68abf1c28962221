package kafka_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"

	embedded "github.com/seed256f7767/spade/internal/embedded/kafka"
	"github.com/seed256f7767/spade/internal/secret"
)

const (
	user     = "spade"
	password = "correct horse"
)

// patience is how long a server may take to answer: a slow machine pauses for
// seconds.
const patience = 20 * time.Second

func config(t *testing.T) embedded.Config {
	t.Helper()
	return embedded.Config{Dir: filepath.Join(t.TempDir(), "kafka"), User: user, Password: secret.New(password)}
}

func start(t *testing.T, cfg embedded.Config) *embedded.Server {
	t.Helper()
	s, err := embedded.New(cfg, embedded.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, s) })
	return s
}

func stop(t *testing.T, s *embedded.Server) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), patience)
	defer cancel()
	if err := s.Shutdown(ctx); err != nil {
		t.Fatal(err)
	}
}

// client talks to a server as user with the given password.
func client(t *testing.T, addr, pass string) *kafka.Client {
	t.Helper()
	mech, err := scram.Mechanism(scram.SHA256, user, pass)
	if err != nil {
		t.Fatal(err)
	}
	tr := &kafka.Transport{SASL: mech, DialTimeout: patience}
	t.Cleanup(tr.CloseIdleConnections)
	return &kafka.Client{Addr: kafka.TCP(addr), Transport: tr, Timeout: patience}
}

func createTopic(t *testing.T, c *kafka.Client, name string) {
	t.Helper()
	res, err := c.CreateTopics(t.Context(), &kafka.CreateTopicsRequest{
		Topics: []kafka.TopicConfig{{Topic: name, NumPartitions: 1, ReplicationFactor: 1}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Errors[name]; err != nil {
		t.Fatal(err)
	}
}

func produce(t *testing.T, c *kafka.Client, topic, value string) {
	t.Helper()
	res, err := c.Produce(t.Context(), &kafka.ProduceRequest{
		Topic: topic, RequiredAcks: kafka.RequireAll,
		Records: kafka.NewRecordReader(kafka.Record{Value: kafka.NewBytes([]byte(value))}),
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Error != nil {
		t.Fatal(res.Error)
	}
}

func values(t *testing.T, c *kafka.Client, topic string) []string {
	t.Helper()
	res, err := c.Fetch(t.Context(), &kafka.FetchRequest{
		Topic: topic, Offset: 0, MinBytes: 1, MaxBytes: 1 << 20, MaxWait: time.Second,
	})
	if err != nil {
		t.Fatal(err)
	}
	if res.Error != nil {
		t.Fatal(res.Error)
	}
	var out []string
	for {
		r, err := res.Records.ReadRecord()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := kafka.ReadAll(r.Value)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, string(b))
	}
}

func TestRecordsAndCommitsOutliveARestart(t *testing.T) {
	cfg := config(t)
	s := start(t, cfg)
	c := client(t, s.Addr(), password)
	createTopic(t, c, "a")
	produce(t, c, "a", "one")
	commit(t, c, "g", "a", 1)
	stop(t, s)

	cfg.Addr = s.Addr()
	again := start(t, cfg)
	if again.Addr() != s.Addr() {
		t.Fatalf("the address moved from %s to %s", s.Addr(), again.Addr())
	}
	c = client(t, again.Addr(), password)
	produce(t, c, "a", "two")
	if got := values(t, c, "a"); len(got) != 2 || got[0] != "one" || got[1] != "two" {
		t.Fatalf("got %q", got)
	}
	if got := committed(t, c, "g", "a"); got != 1 {
		t.Fatalf("committed offset %d, want 1", got)
	}
}

func commit(t *testing.T, c *kafka.Client, group, topic string, offset int64) {
	t.Helper()
	res, err := c.OffsetCommit(t.Context(), &kafka.OffsetCommitRequest{
		GroupID: group, GenerationID: -1,
		Topics: map[string][]kafka.OffsetCommit{topic: {{Partition: 0, Offset: offset}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := res.Topics[topic][0].Error; err != nil {
		t.Fatal(err)
	}
}

func committed(t *testing.T, c *kafka.Client, group, topic string) int64 {
	t.Helper()
	res, err := c.OffsetFetch(t.Context(), &kafka.OffsetFetchRequest{GroupID: group, Topics: map[string][]int{topic: {0}}})
	if err != nil {
		t.Fatal(err)
	}
	return res.Topics[topic][0].CommittedOffset
}

// A copy of the folder of a live server is what kill -9 leaves behind.
func TestAKilledServersFolderLoads(t *testing.T) {
	cfg := config(t)
	s := start(t, cfg)
	c := client(t, s.Addr(), password)
	createTopic(t, c, "a")
	produce(t, c, "a", "one")
	commit(t, c, "g", "a", 1)

	killed := config(t)
	if err := os.CopyFS(killed.Dir, os.DirFS(cfg.Dir)); err != nil {
		t.Fatal(err)
	}
	seg := filepath.Join(killed.Dir, "partitions", "a-0", "0.dat")
	f, err := os.OpenFile(seg, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString("torn write"); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	again := start(t, killed)
	c = client(t, again.Addr(), password)
	produce(t, c, "a", "two")
	if got := values(t, c, "a"); len(got) != 2 || got[1] != "two" {
		t.Fatalf("got %q", got)
	}
	if got := committed(t, c, "g", "a"); got != 1 {
		t.Fatalf("committed offset %d, want 1", got)
	}
}

// killed starts a server on a copy of a live server's folder, after damage was done to one of its files.
func killed(t *testing.T, cfg embedded.Config, file, damage string) (embedded.Config, *kafka.Client) {
	t.Helper()
	next := config(t)
	if err := os.CopyFS(next.Dir, os.DirFS(cfg.Dir)); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(filepath.Join(next.Dir, file), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(damage); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return next, client(t, start(t, next).Addr(), password)
}

// A commit that was cut short must not hide those that the next process takes.
func TestCommitsAfterATornOneOutliveAKill(t *testing.T) {
	cfg := config(t)
	c := client(t, start(t, cfg).Addr(), password)
	createTopic(t, c, "a")
	for range 9 {
		produce(t, c, "a", "x")
	}
	for n, torn := range []string{"\x40\x00\x00\x00torn", "\x02", strings.Repeat("\xff", 50), strings.Repeat("\x00", 50)} {
		commit(t, c, "g", "a", int64(2*n+1))
		cfg, c = killed(t, cfg, "groups.log", torn)
		commit(t, c, "g", "a", int64(2*n+2))
		cfg, c = killed(t, cfg, "groups.log", "")
		if got, want := committed(t, c, "g", "a"), int64(2*n+2); got != want {
			t.Fatalf("after %q the committed offset is %d, want %d", torn, got, want)
		}
	}
}

func TestWrongLoginsAreRefused(t *testing.T) {
	s := start(t, config(t))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := client(t, s.Addr(), "wrong").Metadata(ctx, &kafka.MetadataRequest{}); err == nil {
		t.Error("a wrong password was let in")
	}
	for name, d := range map[string]*kafka.Dialer{
		"plain with the password": {SASLMechanism: plain.Mechanism{Username: user, Password: password}},
		"plain, nobody, empty":    {SASLMechanism: plain.Mechanism{Username: "nobody"}},
		"no login":                {},
	} {
		conn, err := d.DialContext(ctx, "tcp", s.Addr())
		if err != nil {
			continue
		}
		if _, err := conn.Brokers(); err == nil {
			t.Errorf("%s was let in", name)
		}
		if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	}
}

func TestHostileFramesCostNothing(t *testing.T) {
	s := start(t, config(t))
	frame := func(size uint32, key, version uint16) string {
		b := binary.BigEndian.AppendUint32(nil, size)
		b = binary.BigEndian.AppendUint16(b, key)
		return string(binary.BigEndian.AppendUint16(b, version)) + strings.Repeat("x", 100)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for name, bytes := range map[string]string{
		"web page":      "POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 4\r\n\r\nabcd",
		"tls hello":     "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
		"4 GiB frame":   frame(1<<32-1, 3, 1),
		"100 MiB frame": frame(100<<20, 0, 3),
		"unknown key":   frame(100, 9999, 0),
		"tiny frame":    frame(1, 18, 0),
	} {
		conn, err := net.Dial("tcp", s.Addr())
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if _, err := conn.Write([]byte(bytes)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if err := conn.SetReadDeadline(time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		if n, err := conn.Read(make([]byte, 1)); n != 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%s: %d bytes answered, %v; want a closed connection", name, n, err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
	}
	runtime.ReadMemStats(&after)
	if grown := after.TotalAlloc - before.TotalAlloc; grown > 8<<20 {
		t.Errorf("hostile frames made the server allocate %d bytes", grown)
	}
	createTopic(t, client(t, s.Addr(), password), "alive")
}

func TestAPortInUseIsNamed(t *testing.T) {
	first := start(t, config(t))
	cfg := config(t)
	cfg.Addr = first.Addr()
	s, err := embedded.New(cfg, embedded.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	err = s.Start(t.Context())
	var taken *embedded.PortTakenError
	if !errors.As(err, &taken) || taken.Addr != first.Addr() {
		t.Fatalf("got %v", err)
	}
}

func TestDamagedFolderIsNamed(t *testing.T) {
	cfg := config(t)
	if err := os.MkdirAll(cfg.Dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(cfg.Dir, "meta.json"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := embedded.New(cfg, embedded.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Start(t.Context()); !errors.Is(err, embedded.ErrDamaged) || !strings.Contains(err.Error(), cfg.Dir) {
		t.Fatalf("got %v", err)
	}
}

func TestLifecycle(t *testing.T) {
	s, err := embedded.New(config(t), embedded.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	stop(t, s)
	stop(t, s)
	if err := s.Start(t.Context()); err == nil {
		t.Error("a stopped server started")
	}
	started := start(t, config(t))
	if err := started.Start(t.Context()); err == nil {
		t.Error("a server started twice")
	}
	stop(t, started)
	stop(t, started)
	<-started.Done()
}

func TestConfigIsChecked(t *testing.T) {
	_, err := embedded.New(embedded.Config{Addr: "0.0.0.0:9092"}, embedded.Settings{})
	for _, want := range []string{"data folder", "password", "loopback"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v does not name %q", err, want)
		}
	}
}
