//go:build linux

package chaos

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/vector"
)

// servers is where the three services are, by the variables that the program reads.
type servers struct {
	env                                map[string]string
	ownKafka, ownClickHouse, ownQdrant bool // embedded in the world's data folder
}

// findServers starts the embedded services that no variable names elsewhere, and asks the program where all of them are.
func findServers(t *testing.T, bin, data string) servers {
	t.Helper()
	s := servers{
		env:      map[string]string{},
		ownKafka: os.Getenv("SPADE_KAFKA_BROKERS") == "", ownClickHouse: os.Getenv("SPADE_CLICKHOUSE_URL") == "",
		ownQdrant: os.Getenv("SPADE_QDRANT_ADDR") == "",
	}
	for _, line := range os.Environ() {
		name, value, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, "SPADE_") && !strings.HasPrefix(name, "SPADE_TEST_") {
			s.env[name] = value
		}
	}
	if !s.anyOwn() {
		return s
	}
	var problems bytes.Buffer
	cmd := exec.Command(bin, "up", "--print-env", "--linger", "1m", "--data", data)
	cmd.Stderr = &problems
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, problems.String())
	}
	for scan := bufio.NewScanner(bytes.NewReader(out)); scan.Scan(); {
		name, value, ok := strings.Cut(strings.TrimPrefix(scan.Text(), "export "), "=")
		if ok && strings.HasPrefix(name, "SPADE_") {
			s.env[name] = strings.Trim(value, "'")
		}
	}
	return s
}

func (s servers) anyOwn() bool { return s.ownKafka || s.ownClickHouse || s.ownQdrant }

func (s servers) brokers() []string { return strings.Split(s.env["SPADE_KAFKA_BROKERS"], ",") }

// environ is the environment of a process that reaches the servers by address, with some variables replaced.
func (s servers) environ(replaced map[string]string) []string {
	out := plainEnviron()
	for name, value := range s.env {
		if with, ok := replaced[name]; ok {
			value = with
		}
		out = append(out, name+"="+value)
	}
	return out
}

// external is the environment of a process that holds a lease on the data folder.
func (s servers) external() []string { return os.Environ() }

// plainEnviron is the test's own environment without the program's settings.
func plainEnviron() []string {
	var out []string
	for _, line := range os.Environ() {
		if !strings.HasPrefix(line, "SPADE_") || strings.HasPrefix(line, "SPADE_LIBCHDB") || strings.HasPrefix(line, "SPADE_CACHE") {
			out = append(out, line)
		}
	}
	return out
}

// bus is how the test reaches Kafka.
func (s servers) bus() bus.Config {
	c := bus.Config{
		Brokers: s.brokers(), User: s.env["SPADE_KAFKA_USER"], Password: secret.New(s.env["SPADE_KAFKA_PASSWORD"]),
		Mechanism: strings.ToUpper(s.env["SPADE_KAFKA_SASL"]), ClientID: "chaos",
		TLS: bus.TLS{
			Enabled: s.tls(), CAFile: s.env["SPADE_KAFKA_CA"], CertFile: s.env["SPADE_KAFKA_CERT"], KeyFile: s.env["SPADE_KAFKA_KEY"],
		},
	}
	if c.Mechanism == "" && c.User != "" {
		c.Mechanism = "PLAIN"
	}
	return c
}

// tls says that the brokers speak TLS, so that nothing between them and a process can read along.
func (s servers) tls() bool {
	return s.env["SPADE_KAFKA_TLS"] == "true" || s.env["SPADE_KAFKA_TLS"] == "1"
}

// olap is how the test reaches ClickHouse.
func (s servers) olap() olap.Config {
	return olap.Config{
		URL: s.env["SPADE_CLICKHOUSE_URL"], User: s.env["SPADE_CLICKHOUSE_USER"], Password: secret.New(s.env["SPADE_CLICKHOUSE_PASSWORD"]),
	}
}

// vectors is how the test reaches Qdrant.
func (s servers) vectors() vector.Config {
	return vector.Config{
		Addr: s.env["SPADE_QDRANT_ADDR"], APIKey: secret.New(s.env["SPADE_QDRANT_API_KEY"]), TLS: s.env["SPADE_QDRANT_TLS"] == "true",
	}
}
