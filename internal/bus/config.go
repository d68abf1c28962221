package bus

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/event"
)

// Config is what a user writes. Zero fields mean their default.
type Config struct {
	// Brokers are host:port addresses to begin with. Required.
	Brokers []string
	// Mechanism is the SASL login: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, or
	// empty for none.
	Mechanism string
	User      string
	Password  secret.Text
	// TLS secures the connections.
	TLS TLS
	// Prefix is put before the names of topics and groups on the cluster, so that several installations can share one.
	// Default none. Nothing else shows it: events, errors and offsets have the names without.
	Prefix string
	// ClientID names this process to the brokers. Default "spade".
	ClientID string
	// Replication is the replication factor of topics that are created.
	// Default -1: the broker's own default.
	Replication int
	// Compression of appended batches: none (default), gzip, snappy, lz4, zstd.
	Compression string
	// BatchBytes bounds an appended batch before compression. Default 1 MiB;
	// a topic's smaller max.message.bytes wins.
	BatchBytes int
	// InFlightBytes bounds what Append holds until it is acknowledged; above it
	// Append waits. Default 64 MiB.
	InFlightBytes int64
	// DeliveryTimeout is how long a batch is retried. Default 60 s.
	DeliveryTimeout time.Duration
	// RequestTimeout bounds one request. Default 10 s.
	RequestTimeout time.Duration
	// FetchBytes is asked of a partition at once. Default 1 MiB; a larger batch
	// still arrives whole.
	FetchBytes int
	// FetchWait is how long a broker holds a fetch that finds nothing. Default 2 s.
	FetchWait time.Duration
	// SessionTimeout is after how long the group gives up a member that is
	// gone. Default 6 s, the least that a cluster allows by default; the
	// embedded broker allows 1 s.
	SessionTimeout time.Duration
	// Heartbeat is how soon a member learns of a rebalance. Default a twentieth
	// of SessionTimeout.
	Heartbeat time.Duration
	// RevokeTimeout is what a handler gets to finish when it loses a partition.
	// Default 80 % of SessionTimeout, which it must not exceed.
	RevokeTimeout time.Duration
	// StopTimeout is what a handler gets to finish when Consume is asked to stop.
	// What it has not finished then is delivered again by the next start. Default
	// 1 s, or RevokeTimeout where that is shorter.
	StopTimeout time.Duration
	// IdleInterval is how often an idle partition's Processor.Idle is called.
	// Default 50 ms.
	IdleInterval time.Duration
	// StallTimeout is after how long a partition that has records and yields
	// none is reported and reconnected. Default 30 s.
	StallTimeout time.Duration
}

// TLS is the transport security of a cluster.
type TLS struct {
	Enabled bool
	// CAFile holds the certificates to trust, in PEM. Empty means the system's.
	CAFile string
	// CertFile and KeyFile are the client's certificate, where the cluster
	// wants one.
	CertFile, KeyFile string
	// ServerName overrides the name that is checked.
	ServerName string
}

// Settings is what the code passes.
type Settings struct {
	// Logger receives changes of state. Nil drops them.
	Logger *slog.Logger
	// DeadLetter makes a record that is no event durable elsewhere. Consume
	// does not commit past the record before it returned nil. Nil only counts
	// and logs.
	DeadLetter func(ctx context.Context, r event.Record, reason error) error
	// Letters says for which groups DeadLetter is called. Several groups read
	// the same record, and one letter is enough. Nil: for all.
	Letters func(group string) bool
	// Check is what every event must pass: Append refuses one that does not,
	// and a record that holds one is no event to any reader. Nil: event.Check.
	Check func(event.Event) error
	// AnyPartition takes an event for one wherever it stands. Default: in another partition than its key's it is none.
	AnyPartition bool
}

// withDefaults fills in what is zero.
func (c Config) withDefaults() Config {
	def(&c.ClientID, "spade")
	def(&c.Replication, -1)
	def(&c.BatchBytes, 1<<20)
	def(&c.InFlightBytes, 64<<20)
	def(&c.DeliveryTimeout, time.Minute)
	def(&c.RequestTimeout, 10*time.Second)
	def(&c.FetchBytes, 1<<20)
	def(&c.FetchWait, 2*time.Second)
	def(&c.SessionTimeout, 6*time.Second)
	def(&c.Heartbeat, c.SessionTimeout/20)
	def(&c.RevokeTimeout, c.SessionTimeout*8/10)
	def(&c.StopTimeout, min(time.Second, c.RevokeTimeout))
	def(&c.IdleInterval, 50*time.Millisecond)
	def(&c.StallTimeout, 30*time.Second)
	return c
}

func def[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Validate names every problem of the configuration.
func (c Config) Validate() error {
	c = c.withDefaults()
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf("kafka: "+format, args...)) }
	if len(c.Brokers) == 0 || slices.Contains(c.Brokers, "") {
		bad("no broker address given")
	}
	if _, err := c.compression(); err != nil {
		errs = append(errs, err)
	}
	if _, err := c.mechanism(); err != nil {
		errs = append(errs, err)
	}
	if c.Mechanism != "" && (c.User == "" || c.Password.IsZero()) {
		bad("%s needs a user and a password", c.Mechanism)
	}
	if (c.TLS.CertFile == "") != (c.TLS.KeyFile == "") {
		bad("a client certificate needs both its file and its key file")
	}
	if c.BatchBytes < minBatchBytes || c.FetchBytes < minBatchBytes || c.InFlightBytes < int64(c.BatchBytes) {
		bad("batch and fetch sizes must be at least %d bytes, and in-flight bytes at least one batch", minBatchBytes)
	}
	if c.RevokeTimeout > c.SessionTimeout {
		bad("revoke timeout %s exceeds the session timeout %s", c.RevokeTimeout, c.SessionTimeout)
	}
	if min(c.DeliveryTimeout, c.RequestTimeout, c.FetchWait, c.SessionTimeout, c.Heartbeat, c.RevokeTimeout,
		c.StopTimeout, c.IdleInterval, c.StallTimeout) < time.Millisecond {
		bad("times must be at least 1 ms")
	}
	return errors.Join(errs...)
}

const minBatchBytes = 4 << 10

func (c Config) compression() (kafka.Compression, error) {
	all := map[string]kafka.Compression{
		"": 0, "none": 0, "gzip": kafka.Gzip, "snappy": kafka.Snappy, "lz4": kafka.Lz4, "zstd": kafka.Zstd,
	}
	codec, ok := all[c.Compression]
	if !ok {
		return 0, fmt.Errorf("kafka: compression %q is none of none, gzip, snappy, lz4, zstd", c.Compression)
	}
	return codec, nil
}
