package warehouse

import (
	"context"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/apache/arrow/go/v17/arrow/memory"

	embedded "github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

// TestServerInAnotherZone: the server believes to be in Seoul, and the sessions that insert and read believe to be elsewhere still. What
// is stored are instants: the same rows, under the same digests, with the same times.
func TestServerInAnotherZone(t *testing.T) {
	server, err := embedded.New(clickhousetest.Config(t.TempDir()), embedded.Settings{Zone: "Asia/Seoul"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
	})
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	conn := olaptest.Open(t, server)
	olaptest.Install(t, conn)
	if zone := olaptest.Value[string](t, conn, "SELECT serverTimezone()"); zone != "Asia/Seoul" {
		t.Fatalf("the server is in %s", zone)
	}
	options := clickhousetest.Options(server)
	options.Settings = clickhouse.Settings{"session_timezone": "America/New_York"}
	l := makeLog(rand.New(rand.NewPCG(71, 72)), 20)
	s := testSink(t, NewClickHouse(clickhousetest.Open(t, options)), memory.DefaultAllocator, func(event.Record) {})
	if err := live(t.Context(), t, s, l, map[string]int64{}, rand.New(rand.NewPCG(1, 1))); err != nil {
		t.Fatal(err)
	}
	wantLog(t, conn, l, l.topics())
	for _, ev := range l.events[topics.Environments] {
		got := olaptest.Value[string](t, conn, "SELECT any(toString(event_time)) FROM spade.environment_events WHERE kafka_offset = "+
			strconv.FormatInt(ev.LastOffset, 10))
		if want := ev.Time.UTC().Format("2006-01-02 15:04:05.000000"); got != want && got != "" { // empty: it has no row
			t.Errorf("offset %d: %s, want %s", ev.LastOffset, got, want)
		}
	}
	for column, table := range map[string]string{"ingested_at": "rollouts", "planned_at": "_plans", "finished_at": "_offsets"} {
		query := "SELECT max(abs(toUnixTimestamp64Milli(toDateTime64(" + column + ", 3, 'UTC')) - toUnixTimestamp64Milli(now64(3)))) FROM spade." + table
		if away := olaptest.Value[uint64](t, conn, query); away > 120_000 {
			t.Errorf("%s is %d ms away from now", column, away)
		}
	}
}
