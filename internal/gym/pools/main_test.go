package pools

import (
	"testing"

	"github.com/seed256f7767/spade/internal/gym/gymtest"
)

func TestMain(m *testing.M) { gymtest.Main(m) }
