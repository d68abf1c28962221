package clickhousetest

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"

	embedded "github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/child"
	"github.com/seed256f7767/spade/internal/secret"
)

// How tests log in.
const (
	User           = "spade"
	Password       = "platform secret"
	ReaderPassword = "reader secret"
)

// Child runs the child process and exits, when this process was started as one.
func Child() {
	if len(os.Args) > 1 && os.Args[1] == child.Command {
		os.Exit(child.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
}

// Config is that of a server in dir that tests log in to.
func Config(dir string) embedded.Config {
	return embedded.Config{
		Dir: dir, User: User, Password: secret.New(Password), ReaderPassword: secret.New(ReaderPassword),
	}
}

// Start runs a server in a folder of the test's until the test ends.
func Start(tb testing.TB) *embedded.Server {
	tb.Helper()
	return StartIn(tb, tb.TempDir())
}

// StartIn runs a server in dir until the test ends.
func StartIn(tb testing.TB, dir string) *embedded.Server {
	tb.Helper()
	s, err := embedded.New(Config(dir), embedded.Settings{})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		defer cancel()
		if err := s.Shutdown(ctx); err != nil {
			tb.Error(err)
		}
	})
	if err := s.Start(tb.Context()); err != nil {
		tb.Fatal(err)
	}
	return s
}

// Options are clickhouse-go's for the platform's own user.
func Options(s *embedded.Server) *clickhouse.Options {
	return &clickhouse.Options{
		Addr:     []string{s.Addr()},
		Protocol: clickhouse.HTTP,
		Auth:     clickhouse.Auth{Database: embedded.DefaultDatabase, Username: User, Password: Password},
	}
}

// ReaderOptions are clickhouse-go's for the user who may only read.
func ReaderOptions(s *embedded.Server) *clickhouse.Options {
	o := Options(s)
	o.Auth.Username, o.Auth.Password = embedded.Reader, ReaderPassword
	return o
}

// Open connects with options until the test ends.
func Open(tb testing.TB, o *clickhouse.Options) driver.Conn {
	tb.Helper()
	conn, err := clickhouse.Open(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := conn.Close(); err != nil {
			tb.Error(err)
		}
	})
	return conn
}
