// Package olaptest gives tests a warehouse: the embedded ClickHouse with every table. A package that uses it calls
// clickhousetest.Child first in its TestMain.
//
// Begin at Start.
package olaptest

import (
	"context"
	"testing"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/tables"
)

// Start runs a server with the tables until the test ends and connects to it as the platform's own user.
func Start(tb testing.TB) (*clickhouse.Server, olap.Conn) {
	tb.Helper()
	server := clickhousetest.Start(tb)
	conn := Open(tb, server)
	Install(tb, conn)
	return server, conn
}

// Open connects to a server until the test ends.
func Open(tb testing.TB, server *clickhouse.Server) olap.Conn {
	tb.Helper()
	return open(tb, olap.Config{
		URL: "http://" + server.Addr(), User: clickhousetest.User, Password: secret.New(clickhousetest.Password),
	})
}

// OpenReader connects as the user who may only read.
func OpenReader(tb testing.TB, server *clickhouse.Server) olap.Conn {
	tb.Helper()
	return open(tb, olap.Config{
		URL: "http://" + server.Addr(), User: clickhouse.Reader, Password: secret.New(clickhousetest.ReaderPassword),
		Database: tables.Database,
	})
}

func open(tb testing.TB, cfg olap.Config) olap.Conn {
	tb.Helper()
	conn, err := olap.Open(cfg)
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

// Install makes the tables.
func Install(tb testing.TB, conn olap.Conn) {
	tb.Helper()
	catalogue, err := tables.New()
	if err != nil {
		tb.Fatal(err)
	}
	for _, s := range catalogue.Statements() {
		if err := conn.Exec(tb.Context(), s.SQL); err != nil {
			tb.Fatalf("%s: %v\n%s", s.Name, err, s.SQL)
		}
	}
}

// Reset empties every table.
func Reset(tb testing.TB, conn olap.Conn) {
	tb.Helper()
	catalogue, err := tables.New()
	if err != nil {
		tb.Fatal(err)
	}
	for _, t := range catalogue.Tables {
		if err := conn.Exec(tb.Context(), "TRUNCATE TABLE "+tables.Database+"."+t.Name); err != nil {
			tb.Fatal(err)
		}
	}
}

// Value reads the one value of a query.
func Value[T any](tb testing.TB, conn olap.Conn, query string) T {
	tb.Helper()
	var v T
	if err := conn.QueryRow(context.WithoutCancel(tb.Context()), query).Scan(&v); err != nil {
		tb.Fatalf("%s: %v", query, err)
	}
	return v
}
