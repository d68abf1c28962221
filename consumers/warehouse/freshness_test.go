package warehouse

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/topics"
)

const (
	freshRows  = 50_000 // step rows a second
	freshFor   = 20     // seconds
	freshBatch = 100    // milliseconds of rows in one append
)

// acknowledged is an append: when it returned, and where the partitions ended then.
type acknowledged struct {
	at   time.Time
	ends map[int32]int64
}

// BenchmarkFreshness appends rollouts at a steady rate and looks how long it takes from their acknowledgement until SQL
// shows their steps.
func BenchmarkFreshness(b *testing.B) {
	const partitions = 4
	_, conn := olaptest.Start(b)
	client := bustest.Start(b).Client(b)
	if err := client.EnsureTopics(b.Context(), topics.All(partitions)); err != nil {
		b.Fatal(err)
	}
	perBatch := freshRows * freshBatch / 1000 / benchSteps
	batches := freshFor * 1000 / freshBatch
	events := benchEvents(b, perBatch*batches)
	s := busSink(b, client, NewClickHouse(conn), partitions)
	ctx, stop := context.WithCancel(b.Context())
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	if err := s.WaitFor(b.Context(), ends(b, client)); err != nil {
		b.Fatal(err)
	}
	acks := make(chan acknowledged, batches)
	for b.Loop() { // -benchtime 1x: the same events again would be repeats
		began := time.Now()
		go appendSteadily(b, client, events, perBatch, acks)
		var lags []float64
		for a := range acks {
			lags = append(lags, waitVisible(b, conn, a).Seconds())
		}
		slices.Sort(lags)
		b.ReportMetric(lags[len(lags)/2], "p50-s")
		b.ReportMetric(lags[len(lags)*99/100], "p99-s")
		b.ReportMetric(float64(len(events)*benchSteps)/time.Since(began).Seconds(), "steps/s")
	}
	stop()
	if err := <-ended; err != nil {
		b.Fatal(err)
	}
}

// appendSteadily appends a batch whenever it is due; one that is late is made up for.
func appendSteadily(b *testing.B, client *bus.Client, events []event.Event, perBatch int, acks chan<- acknowledged) {
	b.Helper()
	defer close(acks)
	began := time.Now()
	for i, batch := range slices.Collect(slices.Chunk(events, perBatch)) {
		time.Sleep(time.Until(began.Add(time.Duration(i*freshBatch) * time.Millisecond)))
		if err := client.Append(b.Context(), batch...); err != nil {
			b.Error(err)
			return
		}
		at := time.Now()
		ends, err := client.HighWatermarks(b.Context(), topics.Rollouts)
		if err != nil {
			b.Error(err)
			return
		}
		acks <- acknowledged{at, ends}
	}
}

// waitVisible asks again and again until the steps of everything that had been appended are there.
func waitVisible(b *testing.B, conn olap.Conn, a acknowledged) time.Duration {
	b.Helper()
	missing := ""
	for p, end := range a.ends {
		if end > 0 {
			missing += fmt.Sprintf(" + (max(if(kafka_partition = %d, kafka_offset, -1)) < %d)", p, end-1)
		}
	}
	for {
		var n int64
		if err := conn.QueryRow(b.Context(), "SELECT toInt64(0"+missing+") FROM spade.steps").Scan(&n); err != nil {
			b.Fatal(err)
		}
		if n == 0 {
			return time.Since(a.at)
		}
		time.Sleep(20 * time.Millisecond)
	}
}
