package rebuild

import (
	"testing"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
)

func TestMain(m *testing.M) {
	clickhousetest.Child()
	soaking()
	goleak.VerifyTestMain(m)
}
