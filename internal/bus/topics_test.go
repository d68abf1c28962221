package bus_test

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kmsg"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/topics"
)

func TestTopicsAreCreatedOnceAndThenChecked(t *testing.T) {
	b := bustest.Open(t)
	var wg sync.WaitGroup
	for range 4 {
		c := b.Client(t)
		wg.Go(func() {
			if err := c.EnsureTopics(t.Context(), topics.All(testPartitions)); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, want := range topics.All(testPartitions) {
		ends, err := b.Client(t).HighWatermarks(t.Context(), want.Name)
		if err != nil || len(ends) != want.Partitions {
			t.Errorf("topic %s has %d partitions, %v", want.Name, len(ends), err)
		}
	}
}

func TestDifferencesOfATopicAreAllNamed(t *testing.T) {
	b := bustest.Open(t)
	other := topics.Topic{Name: topics.Runs, Partitions: 4, Settings: map[string]string{
		"retention.ms": "1000", "max.message.bytes": "1000", "cleanup.policy": "delete",
	}}
	if err := b.Client(t).EnsureTopics(t.Context(), []topics.Topic{other}); err != nil {
		t.Fatal(err)
	}
	err := b.Client(t).EnsureTopics(t.Context(), topics.All(testPartitions))
	var mismatch *bus.MismatchError
	if !errors.As(err, &mismatch) {
		t.Fatalf("got %v", err)
	}
	if len(mismatch.Differences) != 3 {
		t.Errorf("differences: %+v", mismatch.Differences)
	}
	for _, want := range []string{topics.Runs, "partitions is 4, must be 1", "retention.ms is 1000, must be -1", "max.message.bytes is 1000"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q does not name %q", err, want)
		}
	}
}

func TestTopicCreationIsRetried(t *testing.T) {
	b := bustest.Start(t)
	b.Cluster().Fault(
		kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Err: kerr.RequestTimedOut},
		kfake.Fault{Keys: []kmsg.Key{kmsg.CreateTopics}, Err: kerr.NotController},
	)
	ensure(t, b.Client(t))
}
