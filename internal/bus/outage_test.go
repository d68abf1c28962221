package bus_test

import (
	"testing"
)

// A broker that goes away takes every partition of a group with it: that is one event, not one a partition and retry.
func TestAnOutageIsReportedOnce(t *testing.T) {
	const down, up = "kafka group is interrupted", "kafka group works again"
	b, c := setup(t)
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
