package clickhouse_test

import (
	"testing"
	"time"

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
	rows, err := conn.Query(ctx, "SELECT t, n, s, f, toString(u), b, l FROM kinds WHERE i >= {from:Int64} ORDER BY i", driverNamed("from", "0"))
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
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
