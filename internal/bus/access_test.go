package bus_test

import (
	"testing"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/bustest"
)

func TestARoleMayDoWhatItNeedsAndNothingElse(t *testing.T) {
	g := bustest.StartGuarded(t)
	bustest.CheckRoles(t, g.Client(t), func(t *testing.T, role string) *bus.Client { return g.As(t, role) })
}
