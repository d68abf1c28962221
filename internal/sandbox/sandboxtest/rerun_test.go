package sandboxtest

import (
	"slices"
	"testing"
)

func TestLacking(t *testing.T) {
	const pattern = "^(TestOne|TestTwo)$"
	for name, tt := range map[string]struct {
		printed string
		want    []string
	}{
		"both":              {"=== RUN   TestOne\n--- PASS: TestOne (0.00s)\n    --- PASS: TestOne/a (0.00s)\n--- PASS: TestTwo (1.00s)\nPASS\n", nil},
		"one is not there":  {"--- PASS: TestOne (0.00s)\nPASS\n", []string{"TestTwo"}},
		"one skips":         {"--- SKIP: TestOne (0.00s)\n--- PASS: TestTwo (0.00s)\nPASS\n", []string{"TestOne"}},
		"part of one skips": {"--- PASS: TestOne (0.00s)\n    --- SKIP: TestOne/a (0.00s)\n--- PASS: TestTwo (0.00s)\n", []string{"TestOne/a"}},
		"a longer name":     {"--- PASS: TestOneMore (0.00s)\n--- PASS: TestTwo (0.00s)\n", []string{"TestOne"}},
		"one fails":         {"--- FAIL: TestOne (0.00s)\n--- PASS: TestTwo (0.00s)\n", []string{"TestOne"}},
		"none":              {"testing: warning: no tests to run\nPASS\n", []string{"TestOne", "TestTwo"}},
	} {
		if got := lacking(pattern, tt.printed); !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", name, got, tt.want)
		}
	}
}
