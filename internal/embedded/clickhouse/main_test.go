package clickhouse_test

import (
	"os"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
)

func TestMain(m *testing.M) {
	clickhousetest.Child()
	if dir := os.Getenv(parentEnv); dir != "" {
		parentMain(dir)
	}
	goleak.VerifyTestMain(m)
}
