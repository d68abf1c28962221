package outage

import "testing"

func TestTheFirstFailureAndTheFirstSuccessAreTold(t *testing.T) {
	var o Outage
	if _, over := o.End(); over {
		t.Error("an outage is over that never began")
	}
	for range 2 { // it may come again
		if !o.Begin() || o.Begin() || o.Begin() {
			t.Error("not the first failure alone is told")
		}
		if lasted, over := o.End(); !over || lasted < 0 {
			t.Errorf("the end is not told, or lasted %s", lasted)
		}
		if _, over := o.End(); over {
			t.Error("the end is told twice")
		}
	}
}
