package bus_test

import (
	"testing"

	"github.com/seed256f7767/spade/schemas/topics"
)

func TestMembersAreThoseThatConsumeNow(t *testing.T) {
	b, c := setup(t)
	members := func() int {
		t.Helper()
		n, err := c.Members(t.Context(), group)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := members(); n != 0 {
		t.Errorf("a group that never was has %d members", n)
	}
	var rs [2]recorder
	var stops []func() error
	for i := range rs {
		stops = append(stops, consume(t, b.Client(t), &rs[i], nil, topics.Runs))
	}
	eventually(t, "both have joined", func() bool { return members() == 2 })
	for _, stop := range stops {
		mustStop(t, stop)
	}
	eventually(t, "both have left", func() bool { return members() == 0 })
}
