package endpoints

import (
	"bytes"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded"
	"github.com/seed256f7767/spade/internal/secret"
)

func production() config.Config {
	c := config.NewDefaultConfig()
	c.Kafka = config.Kafka{Brokers: []string{"a:1", "b:2"}, User: "me", Password: secret.New("pass word"), TLS: true, CA: "ca.pem"}
	c.ClickHouse = config.ClickHouse{URL: "https://db:8443", User: "u", Password: secret.New("p'w")}
	c.Qdrant = config.Qdrant{Addr: "q:6334", APIKey: secret.New("key"), TLS: true}
	return c
}

func TestProductionIsOtherAddresses(t *testing.T) {
	lease, err := embedded.Connect(t.Context(), leaseConfig(production(), Settings{}), embedded.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	s := &Services{Lease: lease}
	if err := s.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if k := s.At.Kafka; strings.Join(k.Brokers, ",") != "a:1,b:2" || k.Mechanism != "PLAIN" || !k.TLS.Enabled || k.TLS.CAFile != "ca.pem" {
		t.Errorf("kafka: %+v", k)
	}
	if w := s.Reader; w.URL != "https://db:8443" || w.User != "u" || w.Database != "spade" || s.ReaderLimits == nil {
		t.Errorf("warehouse: %+v, limits %v", w, s.ReaderLimits)
	}
	if q := s.At.Qdrant; q.Addr != "q:6334" || !q.TLS || q.APIKey.Reveal() != "key" {
		t.Errorf("qdrant: %+v", q)
	}
	if pid := lease.SupervisorPID(); pid != 0 {
		t.Errorf("a supervisor runs as process %d although nothing is embedded", pid)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if !AllExternal(production()) || AllExternal(config.NewDefaultConfig()) {
		t.Error("AllExternal is wrong")
	}
}

func TestTheEmbeddedLogWaitsForTheDiskWhenAsked(t *testing.T) {
	c := config.NewDefaultConfig()
	if leaseConfig(c, Settings{}).SyncWrites {
		t.Error("it does so by default")
	}
	c.Kafka.Fsync = true
	if !leaseConfig(c, Settings{}).SyncWrites {
		t.Error("kafka.fsync changes nothing")
	}
}

// TestTheShellReadsWhatWasPrinted evaluates the lines as a user would.
func TestTheShellReadsWhatWasPrinted(t *testing.T) {
	s := new(Services)
	s.fill(embedded.Endpoints{
		Kafka:      bus.Config{Brokers: []string{"a:1"}, Mechanism: "SCRAM-SHA-256", User: "me", Password: secret.New(`it's "$(echo x)" \`)},
		ClickHouse: embedded.ClickHouseEndpoint{URL: "http://c:1", User: "u", Password: secret.New("p"), Reader: secret.New("r")},
		Qdrant:     embedded.QdrantEndpoint{Addr: "q:1", APIKey: secret.New("key")},
	})
	var out bytes.Buffer
	if err := s.WriteEnv(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"security.protocol=SASL_PLAINTEXT", "sasl.mechanisms=SCRAM-SHA-256", `"$CLICKHOUSE_READER_USER:$CLICKHOUSE_READER_PASSWORD"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%s is missing in\n%s", want, out.String())
		}
	}
	got, err := exec.Command("sh", "-c", out.String()+`printf '%s|%s' "$SPADE_KAFKA_PASSWORD" "$SPADE_QDRANT_ADDR"`).Output()
	if err != nil || string(got) != `it's "$(echo x)" \|q:1` {
		t.Errorf("the shell reads %q, %v", got, err)
	}
}

// TestWhoIsTrustedReachesTheClients: a certificate's authority that is lost on the way would be the system's.
func TestWhoIsTrustedReachesTheClients(t *testing.T) {
	c := production()
	c.ClickHouse.CA, c.Qdrant.CA = "warehouse.pem", "vectors.pem"
	s := new(Services)
	s.fill(external(c))
	if s.At.ClickHouse.CAFile != "warehouse.pem" || s.Reader.CAFile != "warehouse.pem" || s.At.Qdrant.CAFile != "vectors.pem" {
		t.Errorf("%+v", s.At)
	}
}
