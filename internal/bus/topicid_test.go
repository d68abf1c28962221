package bus_test

import (
	"errors"
	"testing"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/schemas/topics"
)

// TestTopicIDs: an id outlives the broker's restart and not the topic.
func TestTopicIDs(t *testing.T) {
	broker := bustest.Start(t)
	c := broker.Client(t)
	all := topics.All(3)
	if _, err := c.TopicIDs(t.Context(), topics.Rollouts); !errors.Is(err, bus.ErrNoTopic) {
		t.Errorf("a topic that is not there: %v", err)
	}
	if err := c.EnsureTopics(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	names := make([]string, len(all))
	for i, topic := range all {
		names[i] = topic.Name
	}
	before, err := c.TopicIDs(t.Context(), names...)
	if err != nil || len(before) != len(all) || before[topics.Rollouts] == before[topics.Regrets] {
		t.Fatalf("%v, %v", before, err)
	}
	broker.Stop(t)
	broker.Restart(t)
	after, err := c.TopicIDs(t.Context(), names...)
	if err != nil || after[topics.Rollouts] != before[topics.Rollouts] {
		t.Errorf("after a restart %v, %v; was %v", after, err, before)
	}
	remake(t, broker, c, topics.Rollouts, all)
	again, err := c.TopicIDs(t.Context(), names...)
	if err != nil || again[topics.Rollouts] == before[topics.Rollouts] || again[topics.Regrets] != before[topics.Regrets] {
		t.Errorf("after it was made again %v, %v; was %v", again, err, before)
	}
}

// remake deletes a topic and creates it again.
func remake(t *testing.T, broker *bustest.Broker, c *bus.Client, name string, all []topics.Topic) {
	t.Helper()
	broker.DeleteTopic(t, name)
	if err := c.EnsureTopics(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}
