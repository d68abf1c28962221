package bustest

import (
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// DeleteTopic removes a topic with all its records.
func (b *Broker) DeleteTopic(tb testing.TB, name string) {
	tb.Helper()
	login, err := scram.Mechanism(scram.SHA256, user, password)
	if err != nil {
		tb.Fatal(err)
	}
	transport := &kafka.Transport{SASL: login}
	defer transport.CloseIdleConnections()
	c := kafka.Client{Addr: kafka.TCP(b.cfg.Addr), Transport: transport}
	res, err := c.DeleteTopics(tb.Context(), &kafka.DeleteTopicsRequest{Topics: []string{name}})
	if err == nil {
		err = res.Errors[name]
	}
	if err != nil {
		tb.Fatalf("delete topic %s: %v", name, err)
	}
}
