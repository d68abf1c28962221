package doctor_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/cmd/spade/internal/doctor"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/vector"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestKafka(t *testing.T) {
	broker := bustest.Start(t)
	if f := doctor.Kafka(broker.Config(), 2).Look(t.Context()); f.Status != doctor.OK {
		t.Errorf("%+v", f)
	}
	if f := doctor.Kafka(broker.Config(), 3).Look(t.Context()); f.Status != doctor.Fail || !strings.Contains(f.Detail, "partitions") {
		t.Errorf("another partition count: %+v", f)
	}
	wrong := broker.Config()
	wrong.Password = secret.New("canary-wrong")
	if f := doctor.Kafka(wrong, 2).Look(t.Context()); f.Status != doctor.Fail || strings.Contains(f.Detail, "canary") {
		t.Errorf("a wrong password: %+v", f)
	}
}

// TestNothingListens: port 9 of the loopback interface, which nobody listens on.
func TestNothingListens(t *testing.T) {
	for _, c := range []doctor.Check{
		doctor.Kafka(bus.Config{Brokers: []string{"127.0.0.1:9"}}, 2),
		doctor.Warehouse(olap.Config{URL: "http://127.0.0.1:9"}),
		doctor.Vectors(vector.Config{Addr: "127.0.0.1:9", RetryFor: -1}),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		f := c.Look(ctx)
		cancel()
		if f.Status != doctor.Fail || f.Remedy == "" || !strings.Contains(f.Detail, "127.0.0.1:9") {
			t.Errorf("%s: %+v", c.Name, f)
		}
	}
}
