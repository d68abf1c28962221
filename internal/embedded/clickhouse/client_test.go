package clickhouse_test

import (
	"context"
	"database/sql"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
)

func TestNativeAPI(t *testing.T) {
	s := clickhousetest.Start(t)
	t.Log(s.Addr(), s.Version(), s.Sandbox())
	conn := clickhousetest.Open(t, clickhousetest.Options(s))
	ctx := t.Context()
	if err := conn.Ping(ctx); err != nil {
		t.Fatal(err)
	}
	if err := conn.Exec(ctx, `CREATE TABLE kinds (
		t DateTime64(6, 'UTC'), n Nullable(Float64), s Array(String), f Array(Float64), u UUID, b Bool, i Int64, l LowCardinality(String)
	) ENGINE = MergeTree ORDER BY i`); err != nil {
		t.Fatal(err)
	}
	when := time.Date(2026, 11, 29, 12, 34, 56, 789123000, time.UTC)
	half := 0.5
	batch, err := conn.PrepareBatch(ctx, "INSERT INTO kinds")
	if err != nil {
		t.Fatal(err)
	}
	const id = "9a1f3a9e-6f0c-5f6e-8d2a-0c1d2e3f4a5b"
	for i, n := range []*float64{nil, &half} {
		if err := batch.Append(when, n, []string{"a", "ü\x00\n"}, []float64{1.5, -2}, id, i == 1, int64(i), "low"); err != nil {
			t.Fatal(err)
		}
	}
	if err := batch.Send(); err != nil {
		t.Fatal(err)
	}
	rows, err := conn.Query(ctx, "SELECT t, n, s, f, toString(u), b, l FROM kinds WHERE i >= {from:Int64} ORDER BY i", clickhouse.Named("from", "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // read to its end
	n := 0
	for rows.Next() {
		var gotT time.Time
		var gotN *float64
		var gotS []string
		var gotF []float64
		var gotU, gotL string
		var gotB bool
		if err := rows.Scan(&gotT, &gotN, &gotS, &gotF, &gotU, &gotB, &gotL); err != nil {
			t.Fatal(err)
		}
		if !gotT.Equal(when) || (gotN == nil) != (n == 0) || gotS[1] != "ü\x00\n" || gotF[1] != -2 || gotU != id || gotB != (n == 1) || gotL != "low" {
			t.Errorf("row %d: %v %v %q %v %s %t %s", n, gotT, gotN, gotS, gotF, gotU, gotB, gotL)
		}
		n++
	}
	if err := rows.Err(); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// Every compression that clickhouse-go can ask for, both ways.
func TestClientCompression(t *testing.T) {
	s := clickhousetest.Start(t)
	for name, c := range map[string]*clickhouse.Compression{
		"none": nil,
		"lz4":  {Method: clickhouse.CompressionLZ4},
		"zstd": {Method: clickhouse.CompressionZSTD},
		"gzip": {Method: clickhouse.CompressionGZIP, Level: 1},
		"br":   {Method: clickhouse.CompressionBrotli, Level: 1},
	} {
		t.Run(name, func(t *testing.T) {
			o := clickhousetest.Options(s)
			o.Compression = c
			o.Settings = clickhouse.Settings{"enable_http_compression": 1}
			conn := clickhousetest.Open(t, o)
			ctx := t.Context()
			table := "zip_" + name
			if err := conn.Exec(ctx, "CREATE TABLE "+table+" (a Int64, b String) ENGINE = MergeTree ORDER BY a"); err != nil {
				t.Fatal(err)
			}
			batch, err := conn.PrepareBatch(ctx, "INSERT INTO "+table)
			if err != nil {
				t.Fatal(err)
			}
			for i := range 50_000 {
				if err := batch.Append(int64(i), "text"); err != nil {
					t.Fatal(err)
				}
			}
			if err := batch.Send(); err != nil {
				t.Fatal(err)
			}
			rows, err := conn.Query(ctx, "SELECT a, b FROM "+table+" ORDER BY a")
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close() //nolint:errcheck // read to its end
			n := int64(0)
			for ; rows.Next(); n++ {
				var a int64
				var b string
				if err := rows.Scan(&a, &b); err != nil || a != n || b != "text" {
					t.Fatalf("row %d: %d %q, %v", n, a, b, err)
				}
			}
			if err := rows.Err(); err != nil || n != 50_000 {
				t.Errorf("%d rows, %v", n, err)
			}
			wantCode(t, conn.Exec(ctx, "SELECT * FROM nowhere"), 60)
		})
	}
}

func wantCode(t *testing.T, err error, code int32) {
	t.Helper()
	var e *clickhouse.Exception
	if !errors.As(err, &e) || e.Code != code {
		t.Errorf("got %v, want code %d", err, code)
	}
}

func TestClientErrors(t *testing.T) {
	s := clickhousetest.Start(t)
	conn := clickhousetest.Open(t, clickhousetest.Options(s))
	ctx := t.Context()
	wantCode(t, conn.Exec(ctx, "SELECT * FROM nowhere"), 60)
	wantCode(t, conn.InsertFormat(ctx, "CSV", "INSERT INTO nowhere", strings.NewReader("1\n")), 60)

	// An error in the middle of an answer, in rows and in a stream.
	rows, err := conn.Query(ctx, "SELECT throwIf(number = 400000), toString(number) FROM numbers(500000)")
	if err == nil {
		for rows.Next() { //nolint:revive // read to the error
		}
		err = rows.Err()
		_ = rows.Close()
	}
	wantCode(t, err, 395)
	stream, err := conn.QueryFormat(ctx, "CSV", "SELECT throwIf(number = 400000), toString(number) FROM numbers(500000)")
	if err == nil {
		_, err = io.Copy(io.Discard, stream)
		_ = stream.Close()
	}
	wantCode(t, err, 395)

	o := clickhousetest.Options(s)
	o.Auth.Password = "guess"
	wrong := clickhousetest.Open(t, o)
	wantCode(t, wrong.Ping(ctx), 516)
}

// A canceled context stops the query in the server, and the connection goes on.
func TestClientCancel(t *testing.T) {
	s := clickhousetest.Start(t)
	conn := clickhousetest.Open(t, clickhousetest.Options(s))
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		ended <- conn.Exec(clickhouse.Context(ctx, clickhouse.WithQueryID("go-slow")), slowQuery)
	}()
	c := newClient(t, s)
	c.awaitRunning("go-slow", "1")
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	c.awaitRunning("go-slow", "0")
	if got := count(t, conn, "SELECT count() FROM numbers(3)"); got != 3 {
		t.Errorf("got %d", got)
	}
}

func TestDatabaseSQL(t *testing.T) {
	db := clickhouse.OpenDB(clickhousetest.Options(clickhousetest.Start(t)))
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	ctx := t.Context()
	if _, err := db.ExecContext(ctx, "CREATE TABLE times (n Int32, t DateTime64(6, 'UTC'), s Nullable(String)) ENGINE = MergeTree ORDER BY n"); err != nil {
		t.Fatal(err)
	}
	// Before 1970, the last microsecond of a second, and the ends of what the type holds.
	times := []time.Time{
		time.Date(1925, 1, 1, 0, 0, 0, 1000, time.UTC),
		time.Date(1969, 12, 31, 23, 59, 59, 999999000, time.UTC),
		time.Date(2026, 3, 29, 2, 30, 0, 0, time.UTC),
		time.Date(2026, 11, 29, 12, 0, 0, 1000, time.FixedZone("", 9*3600)),
		time.Date(2261, 12, 31, 23, 59, 59, 999999000, time.UTC),
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		t.Fatal(err)
	}
	stmt, err := tx.PrepareContext(ctx, "INSERT INTO times")
	if err != nil {
		t.Fatal(err)
	}
	for i, at := range times {
		if _, err := stmt.ExecContext(ctx, int32(i), at, sql.NullString{String: "x", Valid: i%2 == 0}); err != nil {
			t.Fatal(err)
		}
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	rows, err := db.QueryContext(ctx, "SELECT n, t, s FROM times WHERE n < {below:Int32} ORDER BY n", clickhouse.Named("below", 100))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close() //nolint:errcheck // read to its end
	for i := range times {
		var n int32
		var at time.Time
		var s sql.NullString
		if !rows.Next() {
			t.Fatalf("%d rows: %v", i, rows.Err())
		}
		if err := rows.Scan(&n, &at, &s); err != nil || !at.Equal(times[i]) || s.Valid != (i%2 == 0) {
			t.Errorf("row %d: %v %v, want %v; %v", i, at, s, times[i], err)
		}
	}
	if rows.Next() || rows.Err() != nil {
		t.Errorf("more rows, or %v", rows.Err())
	}
}
