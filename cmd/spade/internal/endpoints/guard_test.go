package endpoints

import (
	"errors"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/embedded"
)

func TestOnlyAServiceThatStaysDownIsLost(t *testing.T) {
	down := map[embedded.Service]embedded.Status{
		embedded.Kafka: {Phase: "ready"}, embedded.ClickHouse: {Phase: "failed", Error: "no room"},
	}
	up := map[embedded.Service]embedded.Status{embedded.Kafka: {Phase: "ready"}, embedded.ClickHouse: {Phase: "restarting"}}
	since := map[embedded.Service]time.Time{}
	now := time.Unix(0, 0)
	for _, step := range []struct {
		after  time.Duration
		status map[embedded.Service]embedded.Status
		lost   bool
	}{
		{0, down, false},
		{failedFor - 1, down, false},
		{1, up, false}, // it came back: what counts begins anew
		{1, down, false},
		{failedFor - 1, down, false},
		{1, down, true},
	} {
		now = now.Add(step.after)
		err := failed(step.status, since, now)
		var service *embedded.ServiceError
		if errors.As(err, &service) != step.lost || (step.lost && service.Service != embedded.ClickHouse) {
			t.Errorf("at %s: %v", now.UTC(), err)
		}
	}
}
