package doctor

import "testing"

func TestOld(t *testing.T) {
	for version, want := range map[string]bool{
		"24.12.1.1": true, "25.2": true, "25.3.1": false, "26.7.2.1": false, "25.10.9": false, "head": false, "": false, "x.y": false,
	} {
		if old(version) != want {
			t.Errorf("%q: %v", version, !want)
		}
	}
}
