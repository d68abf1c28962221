package embedded

import (
	"strings"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/datadir"
	"github.com/seed256f7767/spade/internal/embedded/kafka"
	"github.com/seed256f7767/spade/internal/embedded/supervisor"
	"github.com/seed256f7767/spade/internal/embedded/wire"
	"github.com/seed256f7767/spade/internal/secret"
)

// Endpoints say where the services are and how to log in.
type Endpoints struct {
	// Kafka is the configuration of a bus.Client. Without brokers there is none.
	Kafka      bus.Config
	ClickHouse ClickHouseEndpoint
	Qdrant     QdrantEndpoint
}

// ClickHouseEndpoint is a ClickHouse server.
type ClickHouseEndpoint struct {
	URL      string // http://host:port, without user and password
	User     string
	Password secret.Text
	CAFile   string // certificates to trust of an https:// server; empty: the system's
	// Reader is the password of the user that may only read, "reader"; empty
	// where there is none.
	Reader secret.Text
}

// QdrantEndpoint is a Qdrant server.
type QdrantEndpoint struct {
	Addr   string // host:port of the gRPC API
	APIKey secret.Text
	TLS    bool
	CAFile string // certificates to trust; empty: the system's
}

func (e Endpoints) has(s Service) bool {
	switch s {
	case Kafka:
		return len(e.Kafka.Brokers) > 0
	case ClickHouse:
		return e.ClickHouse.URL != ""
	case Qdrant:
		return e.Qdrant.Addr != ""
	default:
		return false
	}
}

// Times of the embedded broker's consumer groups: all members are processes of
// this machine, so a member that is silent for long is gone.
const (
	embeddedSession   = 6 * time.Second
	embeddedHeartbeat = 300 * time.Millisecond
)

// fill adds the embedded services that run.
func (e *Endpoints) fill(external Endpoints, st wire.State, lease string) {
	addr := func(s Service) string { return st.Services[string(s)].Addr }
	if a := addr(Kafka); a != "" && !external.has(Kafka) {
		e.Kafka = bus.Config{
			Brokers: []string{a}, Mechanism: kafka.Mechanism, User: st.User, Password: secret.New(st.Secrets.Kafka),
			ClientID: supervisor.ClientID(lease), SessionTimeout: embeddedSession, Heartbeat: embeddedHeartbeat,
		}
	}
	if a := addr(ClickHouse); a != "" && !external.has(ClickHouse) {
		e.ClickHouse = ClickHouseEndpoint{
			URL: "http://" + a, User: st.User, Password: secret.New(st.Secrets.ClickHouse), Reader: secret.New(st.Secrets.Reader),
		}
	}
	if a := addr(Qdrant); a != "" && !external.has(Qdrant) {
		e.Qdrant = QdrantEndpoint{Addr: a, APIKey: secret.New(st.Secrets.Qdrant)}
	}
}

// Env returns KEY=VALUE lines with which other clients, and this program with
// another data folder, reach the services. They hold the passwords in the
// clear.
func (e Endpoints) Env() []string {
	var out []string
	add := func(key, value string) {
		if value != "" {
			out = append(out, key+"="+value)
		}
	}
	if e.has(Kafka) {
		add("SPADE_KAFKA_BROKERS", strings.Join(e.Kafka.Brokers, ","))
		add("SPADE_KAFKA_SASL", strings.ToLower(e.Kafka.Mechanism))
		add("SPADE_KAFKA_USER", e.Kafka.User)
		add("SPADE_KAFKA_PASSWORD", e.Kafka.Password.Reveal())
		add("SPADE_KAFKA_PREFIX", e.Kafka.Prefix)
		if tls := e.Kafka.TLS; tls.Enabled {
			add("SPADE_KAFKA_TLS", "true")
			add("SPADE_KAFKA_CA", tls.CAFile)
			add("SPADE_KAFKA_CERT", tls.CertFile)
			add("SPADE_KAFKA_KEY", tls.KeyFile)
		}
	}
	if e.has(ClickHouse) {
		add("SPADE_CLICKHOUSE_URL", e.ClickHouse.URL)
		add("SPADE_CLICKHOUSE_USER", e.ClickHouse.User)
		add("SPADE_CLICKHOUSE_PASSWORD", e.ClickHouse.Password.Reveal())
		if !e.ClickHouse.Reader.IsZero() {
			add("CLICKHOUSE_READER_USER", clickhouse.Reader)
			add("CLICKHOUSE_READER_PASSWORD", e.ClickHouse.Reader.Reveal())
		}
	}
	if e.has(Qdrant) {
		add("SPADE_QDRANT_ADDR", e.Qdrant.Addr)
		add("SPADE_QDRANT_API_KEY", e.Qdrant.APIKey.Reveal())
	}
	return out
}

// names are services as the supervisor knows them.
func names(services []Service) []string {
	out := make([]string, len(services))
	for i, s := range services {
		out[i] = string(s)
	}
	return out
}

// Errors of a data folder, for errors.Is.
var (
	// ErrLocked: the folder is in use and its supervisor cannot be reached from
	// here, as when it runs on another host.
	ErrLocked = datadir.ErrLocked
	// ErrFormat: the folder was written by another version.
	ErrFormat = datadir.ErrFormat
	// ErrHalfWritten: the folder holds data and no format.
	ErrHalfWritten = datadir.ErrHalfWritten
	// ErrDiskFull: nothing can be written.
	ErrDiskFull = datadir.ErrDiskFull
)
