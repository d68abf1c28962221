package bustest

import (
	"context"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// DeleteTopic removes a topic with all its records.
func (l *Log) DeleteTopic(tb testing.TB, name string) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(tb.Context(), 20*time.Second)
	defer cancel()
	name = l.cfg.Prefix + name
	topic := kmsg.NewDeleteTopicsRequestTopic()
	topic.Topic = &name
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis, req.Topics, req.TopicNames = 10_000, []kmsg.DeleteTopicsRequestTopic{topic}, []string{name}
	if _, err := req.RequestWith(ctx, Franz(tb, l.cfg)); err != nil {
		tb.Fatalf("delete topic %s: %v", name, err)
	}
}
