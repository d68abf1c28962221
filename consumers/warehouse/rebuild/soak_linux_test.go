package rebuild

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/analytics/migrations"
	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/deadletter"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/observe"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/ids"
	"github.com/seed256f7767/spade/schemas/topics"
)

// The role and the addresses of a process that TestMemoryStaysFlat starts.
const (
	soakRole       = "SPADE_TEST_SOAK_ROLE"
	soakKafka      = "SPADE_TEST_SOAK_KAFKA"
	soakClickHouse = "SPADE_TEST_SOAK_CLICKHOUSE"
)

// TestMemoryStaysFlat fills the warehouse from a log by a sink and by a rebuild, each in a process of its own, and again when
// the log has ten times as many events: they take as much memory. SPADE_TEST_SOAK_EVENTS says how many there are at last;
// without it there are too few to fill the buffers, and only what is there at the end is looked at.
func TestMemoryStaysFlat(t *testing.T) {
	total, judged := 40_000, false
	if n, err := strconv.Atoi(os.Getenv("SPADE_TEST_SOAK_EVENTS")); err == nil {
		total, judged = n, true
	}
	server := clickhousetest.Start(t)
	conn := olaptest.Open(t, server)
	olaptest.Install(t, conn)
	if err := migrations.Install(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	broker := bustest.Start(t)
	w := &world{tb: t, conn: conn, log: broker.Client(t)}
	if err := w.log.EnsureTopics(t.Context(), topics.All(partitions)); err != nil {
		t.Fatal(err)
	}
	m, appended := newMaker(t), 0
	peak := map[string]int64{}
	for _, events := range []int{total / 10, total} {
		fillLog(t, w.log, events-appended, m, func() { m.soak(2000) })
		appended = events
		for _, role := range []string{"sink", "rebuild"} {
			began := time.Now()
			most := soakChild(t, role, broker.Addr(), "http://"+server.Addr())
			t.Logf("%s of %d events: at most %d MB, %s", role, events, most>>20, time.Since(began).Round(time.Second))
			if before := peak[role]; judged && before > 0 && (most > before*11/10 || most < before*9/10) {
				t.Errorf("%s: at most %d MB at %d events, %d MB at %d", role, before>>20, total/10, most>>20, total)
			}
			peak[role] = most
			ends := w.ends()
			want := int64(0)
			for _, end := range ends[topics.Rollouts] {
				want += end
			}
			have := olaptest.Value[int64](t, conn, "SELECT toInt64((SELECT count() FROM spade.rollouts) + (SELECT count() FROM spade.dropped_rollouts))")
			if have != want {
				t.Errorf("%s: %d of %d events are in the warehouse", role, have, want)
			}
		}
	}
}

// soak makes events of one row and, every tenth, of nine.
func (m *maker) soak(n int) {
	m.small(n * 9 / 10)
	for i := range n / 10 {
		m.number++
		m.rollout(ids.Env(m.run, m.number, 0, 0), ids.ArmPlain, i)
	}
}

// soakChild runs this test binary in a role and returns the most memory that it had.
func soakChild(t *testing.T, role, kafka, clickhouse string) int64 {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), soakRole+"="+role, soakKafka+"="+kafka, soakClickHouse+"="+clickhouse)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s", role, err, errs.String())
	}
	kilobytes, err := strconv.ParseInt(strings.TrimSpace(out.String()), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return kilobytes << 10
}

// soaking runs the role that the environment names and exits, when it names one.
func soaking() {
	role := os.Getenv(soakRole)
	if role == "" {
		return
	}
	if err := soak(context.Background(), role); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

func soak(ctx context.Context, role string) (err error) {
	log, err := bus.New(bus.Config{
		Brokers: []string{os.Getenv(soakKafka)}, Mechanism: "SCRAM-SHA-256", User: "spade", Password: secret.New("bustest"),
	}, bus.Settings{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	conn, err := olap.Open(olap.Config{
		URL: os.Getenv(soakClickHouse), User: clickhousetest.User, Password: secret.New(clickhousetest.Password),
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, conn.Close()) }()
	letters := &deadletter.Writer{Log: log, Source: observe.NewSource("warehouse"), Consumer: "warehouse"}
	all := topics.All(partitions)
	switch role {
	case "sink":
		err = soakSink(ctx, log, conn, letters)
	case "rebuild":
		var r *Warehouse
		r, err = New(Config{}, Settings{
			Log: log, Conn: conn, Topics: all, DeadLetter: letters.Record,
			Install: func(ctx context.Context) error { return migrations.Install(ctx, conn) },
		})
		if err == nil {
			err = r.Run(ctx)
		}
	}
	if err != nil {
		return err
	}
	return printPeak()
}

func soakSink(ctx context.Context, log *bus.Client, conn olap.Conn, letters *deadletter.Writer) error {
	s, err := warehouse.New(warehouse.Config{}, warehouse.Settings{
		Log: log, Store: warehouse.NewClickHouse(conn), Topics: topics.All(partitions), DeadLetter: letters.Record,
	})
	if err != nil {
		return err
	}
	ends := bus.Positions{}
	for _, topic := range topics.All(partitions) {
		if ends[topic.Name], err = log.HighWatermarks(ctx, topic.Name); err != nil {
			return err
		}
	}
	return s.Drain(ctx, ends)
}

// printPeak prints the most memory that this process had resident, in kB.
func printPeak() error {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(status)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			fmt.Println(strings.Fields(rest)[0])
			return nil
		}
	}
	return errors.New("the kernel does not say how much memory was resident")
}
