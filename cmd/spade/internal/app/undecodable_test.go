package app

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/sasl/scram"

	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// once ends its group's reading after the first batch.
type once struct{ stop context.CancelFunc }

func (o once) Process(context.Context, bus.Batch) error { o.stop(); return nil }
func (once) Idle(context.Context) error                 { return nil }
func (once) Revoked(context.Context) error              { return nil }
func (once) Lost()                                      {}

// Where there is a warehouse its group writes the letter, and no other one does.
func TestARecordThatIsNoEventIsKept(t *testing.T) {
	at := servers(t, t.TempDir())
	l, err := config.Load(config.Sources{})
	must(t, err)
	s, err := Open(t.Context(), l, at, slog.New(slog.DiscardHandler))
	must(t, err)
	appendRaw(t, at.Kafka, kafka.Message{Topic: topics.Runs, Key: []byte("nobody"), Value: []byte("no event")})

	for _, group := range []string{"one", warehouse.Group, "two"} {
		ctx, stop := context.WithCancel(t.Context())
		must(t, s.Bus.Consume(ctx, group, []string{topics.Runs}, nil,
			bus.HandlerFunc(func(context.Context, *bus.Claim) (bus.Processor, error) { return once{stop}, nil })))
		stop()
	}
	var letters []*spadepb.DeadLetter
	err = s.Bus.Read(t.Context(), topics.DeadLetters, nil, nil, func(ev event.Event) error {
		msg, err := ev.Message()
		if m, ok := msg.(*spadepb.DeadLetter); ok {
			letters = append(letters, m)
		}
		return err
	})
	must(t, errors.Join(err, s.Close(context.WithoutCancel(t.Context()))))
	if len(letters) != 1 {
		t.Fatalf("%d dead letters of three groups, want one", len(letters))
	}
	for _, m := range letters {
		if m.GetTopic() != topics.Runs || string(m.GetKey()) != "nobody" || string(m.GetPayload()) != "no event" || m.GetError() == "" {
			t.Errorf("%v", m)
		}
	}
}

// appendRaw writes a record past the bus, as another program may.
func appendRaw(t *testing.T, cfg bus.Config, m kafka.Message) {
	t.Helper()
	login, err := scram.Mechanism(scram.SHA256, cfg.User, cfg.Password.Reveal())
	must(t, err)
	transport := &kafka.Transport{SASL: login}
	defer transport.CloseIdleConnections()
	w := &kafka.Writer{Addr: kafka.TCP(cfg.Brokers...), Transport: transport, BatchSize: 1, RequiredAcks: kafka.RequireAll}
	must(t, errors.Join(w.WriteMessages(t.Context(), m), w.Close()))
}
