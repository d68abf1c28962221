// Package servicestest gives tests the three services: those that SPADE_KAFKA_BROKERS, SPADE_CLICKHOUSE_URL and
// SPADE_QDRANT_ADDR name, with the logins beside them, and embedded servers for the others. A package that uses it runs
// ClickHouse's child first in its TestMain, as clickhousetest.Child does.
//
// Begin at Start.
package servicestest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/qdrant"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/vector"
)

const user, password = "spade", "a secret of the test"

// Services is how the services are reached.
type Services struct {
	Kafka      bus.Config
	ClickHouse olap.Config
	Qdrant     vector.Config
}

// Start is the services until the test ends; embedded ones keep their data in dir. The log is empty. A warehouse or vector
// store that the environment names holds what other tests and runs have left there: a test tells its own by the run.
func Start(tb testing.TB, dir string) Services {
	tb.Helper()
	named := settings(tb)
	return Services{Kafka: bustest.Open(tb).Config(), ClickHouse: warehouse(tb, named.ClickHouse, dir), Qdrant: vectors(tb, named.Qdrant, dir)}
}

// settings are what the environment says of the services.
func settings(tb testing.TB) config.Config {
	tb.Helper()
	var environ []string
	for _, pair := range os.Environ() {
		if strings.HasPrefix(pair, "SPADE_CLICKHOUSE_") || strings.HasPrefix(pair, "SPADE_QDRANT_") {
			environ = append(environ, pair)
		}
	}
	l, err := config.Load(config.Sources{Environ: environ})
	if err != nil {
		tb.Fatal(err)
	}
	return l.Config
}

func warehouse(tb testing.TB, c config.ClickHouse, dir string) olap.Config {
	tb.Helper()
	if c.URL != "" {
		return olap.Config{URL: c.URL, User: c.User, Password: c.Password, CAFile: c.CA}
	}
	s, err := clickhouse.New(clickhouse.Config{
		Dir: filepath.Join(dir, "clickhouse"), User: user, Password: secret.New(password),
	}, clickhouse.Settings{})
	run(tb, s, err)
	return olap.Config{URL: s.URL(), User: user, Password: secret.New(password)}
}

func vectors(tb testing.TB, c config.Qdrant, dir string) vector.Config {
	tb.Helper()
	if c.Addr != "" {
		return vector.Config{Addr: c.Addr, APIKey: c.APIKey, TLS: c.TLS, CAFile: c.CA}
	}
	s, err := qdrant.New(qdrant.Config{
		Dir: filepath.Join(dir, "qdrant"), Addr: "127.0.0.1:0", APIKey: secret.New(password),
	}, qdrant.Settings{})
	run(tb, s, err)
	return vector.Config{Addr: s.Addr(), APIKey: secret.New(password)}
}

// server is an embedded server.
type server interface {
	Start(ctx context.Context) error
	Shutdown(ctx context.Context) error
}

func run(tb testing.TB, s server, err error) {
	tb.Helper()
	if err == nil {
		err = s.Start(tb.Context())
	}
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			tb.Error(err)
		}
	})
}
