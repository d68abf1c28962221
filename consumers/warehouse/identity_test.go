package warehouse

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/tables"
	"github.com/seed256f7767/spade/schemas/topics"
)

// TestATopicThatWasMadeAgain: its offsets begin at 0 again, so going on would skip events or hold rows of two topics for one. The
// sink refuses, and says what to do, whether it finds the new topic at its start or while it runs.
func TestATopicThatWasMadeAgain(t *testing.T) {
	const partitions = 2
	broker := bustest.Open(t)
	client := broker.Client(t)
	_, conn := olaptest.Start(t)
	all := topics.All(partitions)
	if err := client.EnsureTopics(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	events := everyKind(t, 6)
	fill := func() {
		t.Helper()
		if err := client.Append(t.Context(), events...); err != nil {
			t.Fatal(err)
		}
	}
	remake := func() {
		t.Helper()
		broker.DeleteTopic(t, topics.Rollouts)
		if err := client.EnsureTopics(t.Context(), all); err != nil {
			t.Fatal(err)
		}
	}
	refused := func(err error) {
		t.Helper()
		if !errors.Is(err, ErrOtherLog) || !strings.Contains(err.Error(), topics.Rollouts) || !strings.Contains(err.Error(), "spade rebuild") {
			t.Errorf("error %v", err)
		}
	}
	fill()
	if err := busSink(t, client, NewClickHouse(conn), partitions).Drain(t.Context(), ends(t, client)); err != nil {
		t.Fatal(err)
	}
	rows := "SELECT count() FROM spade.steps"
	had := olaptest.Value[uint64](t, conn, rows)
	for _, what := range []string{"shorter", "as long"} {
		remake()
		if what == "as long" {
			fill()
		}
		fresh := busSink(t, client, NewClickHouse(conn), partitions)
		refused(fresh.Drain(t.Context(), ends(t, client)))
		if got := olaptest.Value[uint64](t, conn, rows); got != had {
			t.Errorf("%s: %d rows, were %d", what, got, had)
		}
	}
	olaptest.Reset(t, conn)
	running := busSink(t, client, NewClickHouse(conn), partitions)
	done := make(chan error, 1)
	go func() { done <- running.Run(t.Context()) }()
	if err := running.WaitFor(t.Context(), ends(t, client)); err != nil {
		t.Fatal(err)
	}
	remake()
	fill()
	fill()
	select {
	case err := <-done:
		refused(err)
	case <-time.After(2 * time.Minute):
		t.Error("the sink goes on with another topic")
	}
}

// TestServerWindows: what counts is what the server keeps, be it the table's setting or the server's.
func TestServerWindows(t *testing.T) {
	broker := bustest.Open(t)
	client := broker.Client(t)
	_, conn := olaptest.Start(t)
	if err := client.EnsureTopics(t.Context(), topics.All(1)); err != nil {
		t.Fatal(err)
	}
	window := func(table string) Window {
		t.Helper()
		all, err := NewClickHouse(conn).Windows(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return all[table]
	}
	if got := window("steps"); got != (Window{Blocks: 100_000}) {
		t.Errorf("as installed: %+v", got)
	}
	for _, sql := range []string{
		"ALTER TABLE spade.steps MODIFY SETTING non_replicated_deduplication_window = 7",
		"ALTER TABLE spade.rollouts RESET SETTING non_replicated_deduplication_window",
	} {
		if err := conn.Exec(t.Context(), sql); err != nil {
			t.Fatal(err)
		}
	}
	if got := window("steps"); got.Blocks != 7 {
		t.Errorf("after a change: %+v", got)
	}
	err := busSink(t, client, NewClickHouse(conn), 1).Run(t.Context())
	if !errors.Is(err, ErrNoWindow) || !strings.Contains(err.Error(), "ALTER TABLE spade.rollouts MODIFY SETTING") || strings.Contains(err.Error(), "spade.steps ") {
		t.Errorf("a table that recognises nothing: %v", err)
	}
}

func TestWindowOf(t *testing.T) {
	server := map[string]int64{
		"non_replicated_deduplication_window": 0, "replicated_deduplication_window": 10_000, "replicated_deduplication_window_seconds": 3600,
	}
	for _, c := range []struct {
		engine, full string
		want         Window
	}{
		{"MergeTree", "MergeTree ORDER BY x SETTINGS index_granularity = 8192", Window{}},
		{"MergeTree", "MergeTree ORDER BY x SETTINGS non_replicated_deduplication_window = 5, index_granularity = 1", Window{Blocks: 5}},
		{"ReplicatedMergeTree", "ReplicatedMergeTree('a') SETTINGS non_replicated_deduplication_window = 5", Window{10_000, time.Hour}},
		{"SharedMergeTree", "SharedMergeTree SETTINGS replicated_deduplication_window = 9, replicated_deduplication_window_seconds = 60", Window{9, time.Minute}},
	} {
		if got := windowOf(c.engine, c.full, server); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.full, got, c.want)
		}
	}
}

// TestAServerThatIsToldNotToDeduplicate: the settings of a user's profile do not count, because the insert brings its own.
func TestAServerThatIsToldNotToDeduplicate(t *testing.T) {
	server, conn := olaptest.Start(t)
	for _, setting := range []string{"insert_deduplicate", "deduplicate_insert"} {
		olaptest.Reset(t, conn)
		options := clickhousetest.Options(server)
		options.Settings = clickhouse.Settings{setting: map[string]any{"insert_deduplicate": 0, "deduplicate_insert": "disable"}[setting]}
		profile := clickhousetest.Open(t, options)
		store := NewClickHouse(profile)
		if _, err := store.Windows(t.Context()); err != nil {
			t.Fatal(err)
		}
		insertTwice(t, store)
		if got := olaptest.Value[uint64](t, conn, "SELECT count() FROM spade.rollouts"); got != 1 {
			t.Errorf("%s: %d rows, want 1", setting, got)
		}
	}
}

// insertTwice inserts one rollout twice under one token, as a lost answer makes a sink do.
func insertTwice(t *testing.T, store *ClickHouse) {
	t.Helper()
	catalogue, err := sharedCatalogue()
	if err != nil {
		t.Fatal(err)
	}
	ev := everyKind(t, 1)[9]
	msg, err := ev.Message()
	if err != nil {
		t.Fatal(err)
	}
	p := Place{topics.Rollouts, 0}
	if err := store.Claim(t.Context(), []Place{p}, Writer{Group: Group, Token: 7}); err != nil {
		t.Fatal(err)
	}
	set := tables.NewSet(memory.DefaultAllocator, catalogue, 7)
	defer set.Release()
	if err := set.Append(&ev, msg); err != nil {
		t.Fatal(err)
	}
	for _, b := range set.Blocks() {
		for range 2 {
			if err := store.Insert(t.Context(), b.Table, Token(b.Table.Name, p, Range{0, 0}), b.Record); err != nil {
				t.Fatal(err)
			}
		}
		b.Record.Release()
	}
}
