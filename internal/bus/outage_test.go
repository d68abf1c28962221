package bus_test

import (
	"context"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
)

// A broker that goes away takes every partition of a group with it: that is one event, not one a partition and retry.
func TestAnOutageIsReportedOnce(t *testing.T) {
	const down, up = "kafka group is interrupted", "kafka group works again"
	b, c := embedded(t)
	watcher, log := logging(t, b)
	var r recorder
	stop := consume(t, watcher, &r, nil, topic)
	eventually(t, "it has the partitions", func() bool { return r.held() == testPartitions })
	for outages := 1; outages <= 2; outages++ {
		b.Stop(t)
		eventually(t, "it is reported", func() bool { return log.count(down) == outages })
		eventually(t, "the partitions are lost", func() bool { return r.held() == 0 })
		b.Restart(t)
		eventually(t, "it works again", func() bool { return log.count(up) == outages && r.held() == testPartitions })
	}
	appendAll(t, c, newEvent(topic, "k", "a"))
	eventually(t, "the event comes", func() bool { return len(r.seen()) == 1 })
	mustStop(t, stop)
	if log.count(down) != 2 || log.count(up) != 2 || log.count("level=WARN") != 2 {
		t.Errorf("the log:\n%s", log)
	}
}

// Stopping is no outage, also when the broker has gone first.
func TestStoppingIsNotReported(t *testing.T) {
	b, _ := setup(t)
	watcher, log := logging(t, b)
	var r recorder
	stop := consume(t, watcher, &r, nil, topic)
	eventually(t, "it has the partitions", func() bool { return r.held() == testPartitions })
	mustStop(t, stop)
	if log.String() != "" {
		t.Errorf("the log:\n%s", log)
	}
}

// Who stops a program does not want to wait for work that will be done again anyway.
func TestAStuckHandlerIsNotWaitedForLong(t *testing.T) {
	b, c := setup(t)
	cfg := b.Config()
	cfg.SessionTimeout, cfg.StopTimeout = time.Minute, 100*time.Millisecond // and a RevokeTimeout of 48 s
	stuck := make(chan struct{})
	h := bus.HandlerFunc(func(context.Context, *bus.Claim) (bus.Processor, error) { return stuckProcessor{began: stuck}, nil })
	stop := consume(t, b.ClientWith(t, cfg, bus.Settings{}), h, nil, topic)
	appendAll(t, c, newEvent(topic, "k", "a"))
	<-stuck
	began := time.Now()
	mustStop(t, stop)
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("stopping took %s", took)
	}
}

// stuckProcessor works until its context ends.
type stuckProcessor struct {
	began chan struct{}
}

func (p stuckProcessor) Process(ctx context.Context, _ bus.Batch) error {
	close(p.began)
	<-ctx.Done()
	return ctx.Err()
}
func (stuckProcessor) Idle(context.Context) error    { return nil }
func (stuckProcessor) Revoked(context.Context) error { return nil }
func (stuckProcessor) Lost()                         {}
