package gym

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"
)

// A machine that has, or promises, less memory than the hog wants holds it too, and a hog that nothing holds ends well.
func TestHogAtTheMachinesOwnLimit(t *testing.T) {
	for name, tt := range map[string]struct {
		address uint64 // the limit on all that the process maps, which answers as a kernel does that promises no more
		enough  uint64
		want    string
	}{
		"held":  {400 << 20, 1 << 30, "MemoryError"},
		"lives": {4 << 30, 128 << 20, ""},
	} {
		script := fmt.Sprintf("import resource, time\nresource.setrlimit(resource.RLIMIT_AS, (%d,) * 2)\ntime.sleep = id\nENOUGH = %d\n%s",
			tt.address, tt.enough, pythonHog)
		out, err := exec.CommandContext(t.Context(), "python3", "-S", "-c", script).CombinedOutput()
		last := strings.TrimSpace(string(out[strings.LastIndexByte(strings.TrimRight(string(out), "\n"), '\n')+1:]))
		if last != tt.want || (err == nil) != (tt.want == "") {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
