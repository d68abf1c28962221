package jail

import (
	"os"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/sandbox/sandboxtest"
)

// What environments are made of works in the jail with every layer on.
func TestHonestProgram(t *testing.T) {
	got := prisoner{layers: every}.run(t, `
import sys, os, json, threading, ctypes, time, random, decimal, hashlib, zoneinfo, unicodedata, socket, asyncio
done = []
t = threading.Thread(target=lambda: done.append(1)); t.start(); t.join()
async def main():
    await asyncio.sleep(0.001)
    done.append(2)
asyncio.run(main())
cb = ctypes.CFUNCTYPE(ctypes.c_int)(lambda: 7)
done.append(cb())
with open("/tmp/x", "w") as f: f.write("hello")
print(done, open("/tmp/x").read(), os.uname().nodename, sys.argv[1], json.loads(sys.argv[2])["layers"] > 0, os.getcwd(), sorted(os.environ))
os.write(3, b"result")
`, "hello")
	const want = "[1, 2, 7] hello spade hello True / ['LC_ALL', 'PYTHONHASHSEED']\n"
	if got.out != want || got.err != "" || got.results != "result" || !got.state.Success() {
		t.Errorf("got %+v", got)
	}
}

func TestRefusalIsTold(t *testing.T) {
	got := prisoner{layers: every, mounts: mountsOf("/nonexistent/folder")}.run(t, "print('ran')")
	if got.out != "" || !strings.Contains(got.results, "sandbox layer root is missing") || !strings.Contains(got.results, "/nonexistent") ||
		got.state.ExitCode() != exitRefused {
		t.Errorf("got %+v", got)
	}
}

// A plain user's prisoners are held by the same layers.
func TestAsPlainUser(t *testing.T) {
	if os.Geteuid() != 0 {
		t.Log("every test here runs as a plain user")
		return
	}
	sandboxtest.Rerun(t, "^(TestHonestProgram|TestAttacks)$", sandboxtest.Nobody())
}
