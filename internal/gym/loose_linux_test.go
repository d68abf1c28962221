package gym

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/sys/unix"

	"github.com/seed256f7767/spade/internal/gym/jail"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/sandbox"
)

// looseMain is a first stage that claims every layer and leaves something out.
func looseMain(what, argument string) int {
	runtime.LockOSThread()
	var o jail.Options
	if err := json.Unmarshal([]byte(argument), &o); err != nil {
		return 1
	}
	_, _, body, err := wire.NewReader(iotest.OneByteReader(os.NewFile(0, "messages"))).Next() // and nothing that follows
	if err != nil {
		return 1
	}
	hello := wire.NewDecoder(string(body)).Hello()
	claimed := sandbox.Layer(hello.Require)
	p := sandbox.Program{
		Layers: claimed, Want: sandbox.Layer(hello.Want), Path: o.Program, Env: o.Env, KeepDescriptors: 4,
		Mounts: o.Mounts, Hidden: o.Hidden, ScratchBytes: o.ScratchBytes, MemoryBytes: hello.MemoryBytes,
		OpenFiles: hello.OpenFiles, Threads: o.Threads, StackBytes: o.StackBytes,
		Args: func(have sandbox.Layer) []string {
			o.Worker["layers"] = uint32(claimed | have)
			if what == "claim" {
				o.Worker["layers"] = uint32(have &^ sandbox.Seccomp)
			}
			last, err := json.Marshal(o.Worker)
			if err != nil {
				return nil
			}
			return append(append([]string{o.Program}, o.Args...), string(last))
		},
	}
	switch what {
	case "seccomp":
		p.Layers &^= sandbox.Seccomp
	case "no_new_privs":
		p.Layers &^= sandbox.NoNewPrivs | sandbox.Seccomp | sandbox.Privileges // the others need it, or could do without
	case "privileges":
		p.Layers &^= sandbox.Privileges
	case "rlimits":
		p.Layers &^= sandbox.Rlimits
	case "descriptors":
		if _, err := unix.Open("/", unix.O_RDONLY, 0); err != nil { // without close-on-exec
			return 1
		}
		p.Layers &^= sandbox.Descriptors
	case "root":
		for _, m := range o.Mounts {
			if m.To == workerFolder { // beside it is the canary
				p.Mounts = append(p.Mounts, sandbox.Mount{From: filepath.Dir(m.From)})
			}
		}
	}
	_ = sandbox.Enter(p)
	return 1
}

// The test at the start finds out about a layer that is claimed and does not hold, and nothing untrusted runs then.
func TestSelfTestFindsWhatDoesNotHold(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	for what, want := range map[string]string{
		"nothing":      "",
		"seccomp":      "start a process",
		"no_new_privs": "gain privileges",
		"privileges":   "have capabilities",
		"rlimits":      "allocate more than its limit",
		"descriptors":  "find a descriptor that was left open",
		"root":         "read a file of the machine",
		"claim":        "layers are missing: seccomp",
	} {
		p, err := NewPool(Config{MemoryBytes: 64 << 20, Spares: -1}, Settings{})
		if err != nil {
			t.Fatal(err)
		}
		p.jail = []string{"/proc/self/exe", looseCommand, what}
		if err := p.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, err = p.Open(t.Context(), Source{Runtime: RuntimePython, Code: countingPython})
		var refused *SandboxError
		switch {
		case want == "" && err != nil:
			t.Errorf("%s left out: %v, so that this proves nothing", what, err)
		case want != "" && (!errors.As(err, &refused) || !strings.Contains(err.Error(), want)):
			t.Errorf("%s left out: %v", what, err)
		}
		if err := p.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
