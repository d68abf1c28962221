package bustest

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
	"github.com/twmb/franz-go/pkg/sasl"
	"github.com/twmb/franz-go/pkg/sasl/plain"
	"github.com/twmb/franz-go/pkg/sasl/scram"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/busconfig"
	"github.com/seed256f7767/spade/internal/config"
)

// External reports whether the environment names a cluster for the tests.
func External() bool { return os.Getenv("SPADE_KAFKA_BROKERS") != "" }

// leastSession is the shortest session that a cluster allows by default.
const leastSession = 6 * time.Second

// Open is the log that a test works on until it ends, when its topics are deleted.
func Open(tb testing.TB) *Log {
	tb.Helper()
	if !External() {
		return &Start(tb).Log
	}
	var environ []string
	for _, pair := range os.Environ() {
		if strings.HasPrefix(pair, "SPADE_KAFKA_") {
			environ = append(environ, pair)
		}
	}
	l, err := config.Load(config.Sources{Environ: environ})
	if err != nil {
		tb.Fatal(err)
	}
	cfg := times(busconfig.From(l.Kafka), leastSession)
	cfg.Prefix += "test-" + uuid.NewString()[:8] + "."
	log := &Log{cfg}
	tb.Cleanup(func() { log.deleteTopics(tb) })
	return log
}

// deleteTopics deletes what a test made.
func (l *Log) deleteTopics(tb testing.TB) {
	tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	if err := l.tryDeleteTopics(ctx, Franz(tb, l.cfg)); err != nil {
		tb.Errorf("delete the topics of the test: %v", err)
	}
}

func (l *Log) tryDeleteTopics(ctx context.Context, cl *kgo.Client) error {
	all, err := kmsg.NewPtrMetadataRequest().RequestWith(ctx, cl)
	if err != nil {
		return err
	}
	req := kmsg.NewPtrDeleteTopicsRequest()
	req.TimeoutMillis = 10_000
	for _, t := range all.Topics {
		if t.Topic != nil && strings.HasPrefix(*t.Topic, l.cfg.Prefix) {
			rt := kmsg.NewDeleteTopicsRequestTopic()
			rt.Topic = t.Topic
			req.Topics = append(req.Topics, rt)
			req.TopicNames = append(req.TopicNames, *t.Topic)
		}
	}
	if len(req.Topics) == 0 {
		return nil
	}
	_, err = req.RequestWith(ctx, cl)
	return err
}

// Franz is another Kafka client of the log, to do what the bus never does. It knows no prefix.
func Franz(tb testing.TB, cfg bus.Config, opts ...kgo.Opt) *kgo.Client {
	tb.Helper()
	opts = append(opts, kgo.SeedBrokers(cfg.Brokers...))
	login, err := mechanism(cfg)
	if err != nil {
		tb.Fatal(err)
	}
	if login != nil {
		opts = append(opts, kgo.SASL(login))
	}
	certs, err := cfg.TLS.Load()
	if err != nil {
		tb.Fatal(err)
	}
	if certs != nil {
		opts = append(opts, kgo.DialTLSConfig(certs))
	}
	cl, err := kgo.NewClient(opts...)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(cl.Close)
	return cl
}

func mechanism(cfg bus.Config) (sasl.Mechanism, error) {
	auth := scram.Auth{User: cfg.User, Pass: cfg.Password.Reveal()}
	switch cfg.Mechanism {
	case "":
		return nil, nil
	case "PLAIN":
		return plain.Auth{User: cfg.User, Pass: cfg.Password.Reveal()}.AsMechanism(), nil
	case "SCRAM-SHA-256":
		return auth.AsSha256Mechanism(), nil
	case "SCRAM-SHA-512":
		return auth.AsSha512Mechanism(), nil
	default:
		return nil, fmt.Errorf("there is no login %q", cfg.Mechanism)
	}
}
