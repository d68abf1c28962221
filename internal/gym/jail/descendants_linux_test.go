package jail

import (
	"os/exec"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/sandbox"
)

// orphanage starts a process that ignores signals, leaves its session, loses its parent and holds the pipes until nobody
// reads from them.
const orphanage = `
import os, select, signal, time
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        for s in range(1, 65):
            try: signal.signal(s, signal.SIG_IGN)
            except (OSError, ValueError): pass
        os.write(1, b"born")
        reader = select.poll()
        reader.register(1, 0)
        reader.poll(60_000)
    os._exit(0)
os.wait()
time.sleep(1000)
`

// Whoever is killed takes everybody along: by its namespace, of which it is the first process, or by the control group.
// Without both, an orphan lives on and holds the pipes that the platform reads.
func TestDescendantsEndWithTheirAncestor(t *testing.T) {
	const forking = ownLayers &^ (sandbox.Seccomp | sandbox.Landlock | sandbox.Rlimits)
	tests := map[string]struct {
		layers sandbox.Layer
		lives  bool
	}{
		"a namespace":     {forking, false},
		"a control group": {forking&^(sandbox.Namespaces|sandbox.Root|sandbox.Privileges) | sandbox.Cgroup, false},
		"neither":         {forking &^ (sandbox.Namespaces | sandbox.Root | sandbox.Privileges), true},
	}
	for name, tt := range tests {
		if tt.layers.Has(sandbox.Cgroup) && groups(t) == nil {
			continue
		}
		p := prisoner{layers: tt.layers, until: "born", during: func(cmd *exec.Cmd) {
			if tt.layers.Has(sandbox.Cgroup) {
				return // joinGroup's end kills
			}
			if err := cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		}}
		if tt.layers.Has(sandbox.Cgroup) {
			p.endGroup = true
		}
		if !tt.lives {
			p.letGo = 20 * time.Second // a kill takes a moment, and on a slow machine some
		}
		got := p.run(t, orphanage)
		if got.out != "born" {
			t.Errorf("%s: the orphan said %q, so that this proves nothing; %s%s", name, got.out, got.err, got.results)
		}
		if got.held != tt.lives {
			t.Errorf("%s: somebody holds the pipes: %v", name, got.held)
		}
		if !got.held && got.state.Success() {
			t.Errorf("%s: %v", name, got.state)
		}
	}
}

// A prisoner is sent SIGKILL when its parent ends, whatever else it is confined by.
func TestEndsWithItsParent(t *testing.T) {
	const ask = `
import ctypes
signal = ctypes.c_int()
ctypes.CDLL(None).prctl(2, ctypes.byref(signal), 0, 0, 0)  # PR_GET_PDEATHSIG
print(signal.value, end="")
`
	for _, layers := range []sandbox.Layer{0, sandbox.Rlimits | sandbox.Descriptors, ownLayers &^ sandbox.Privileges &^ sandbox.Seccomp, ownLayers &^ sandbox.Seccomp} {
		if got := (prisoner{layers: layers}).run(t, ask); got.out != "9" {
			t.Errorf("layers %s: it is sent %q, %s%s", layers, got.out, got.err, got.results)
		}
	}
}
