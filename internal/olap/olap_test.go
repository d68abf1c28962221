package olap_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"
	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/internal/secret"
)

func TestMain(m *testing.M) {
	clickhousetest.Child()
	goleak.VerifyTestMain(m)
}

func TestOpen(t *testing.T) {
	for _, url := range []string{"", "localhost:8123", "tcp://localhost:9000", "http://", "http://user:hunter2@[::1", "ftp://user:hunter2@host"} {
		_, err := olap.Open(olap.Config{URL: url})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%q: %v", url, err)
		}
	}
	conn, err := olap.Open(olap.Config{URL: "https://user.example/path"})
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Error(err)
	}
}

func TestTransient(t *testing.T) {
	exception := func(code int32) error {
		return fmt.Errorf("insert: %w", &clickhouse.Exception{Code: code, Message: "m"})
	}
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("connection reset by peer"), true},
		{fmt.Errorf("query: %w", context.DeadlineExceeded), true},
		{fmt.Errorf("query: %w", context.Canceled), false},
		{exception(241), true},
		{exception(olap.CodeDiskFull), true},
		{exception(252), true},
		{exception(olap.CodeUnknownTable), false},
		{exception(516), false},
		{exception(olap.CodeThrowIf), false},
	} {
		if got := olap.Transient(tc.err); got != tc.want {
			t.Errorf("%v: %t", tc.err, got)
		}
	}
	if olap.Code(exception(60)) != 60 || olap.Code(errors.New("x")) != 0 {
		t.Error("codes")
	}
}

func TestReady(t *testing.T) {
	server := clickhousetest.Start(t)
	conn := olaptest.Open(t, server)
	if err := olap.Ready(t.Context(), conn); err != nil {
		t.Fatal(err)
	}
	stranger, err := olap.Open(olap.Config{URL: "http://" + server.Addr(), User: "spade", Password: secret.New("wrong")})
	if err != nil {
		t.Fatal(err)
	}
	defer stranger.Close()
	if err := olap.Ready(t.Context(), stranger); err == nil || olap.Code(err) == 0 {
		t.Errorf("a wrong password: %v", err)
	}
	nobody, err := olap.Open(olap.Config{URL: "http://127.0.0.1:1"})
	if err != nil {
		t.Fatal(err)
	}
	defer nobody.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := olap.Ready(ctx, nobody); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("nobody there: %v", err)
	}
}
