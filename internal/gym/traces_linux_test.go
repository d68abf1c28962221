package gym

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/seed256f7767/spade/internal/sandbox/maker"
)

// In the weaker tiers an environment can start processes. They end with its worker, in sessions of their own too; those
// whose parent has ended as well are found by the control group alone.
func TestDescendantsInWeakTiers(t *testing.T) {
	const lines = `
import os, time
r, w = os.pipe()
if os.fork() == 0:
    os.setsid()
    if ORPHAN and os.fork() > 0:
        os._exit(0)
    os.write(w, str(os.getpid()).encode())
    time.sleep(1000)
state["pid"] = int(os.read(r, 99))`
	for _, tier := range []string{SandboxLimits, SandboxNone} {
		for _, orphan := range []string{"False", "True"} {
			p := newPool(t, Config{Sandbox: tier})
			w := openPython(t, p, strings.Replace(inPythonStep(strings.ReplaceAll(lines, "ORPHAN", orphan)), `return state, str(state["n"]) + " of "`, `return state, str(state["pid"]) + "/"`, 1))
			if _, err := w.Reset(t.Context(), []Reset{{}}); err != nil {
				t.Fatal(err)
			}
			got, err := w.Step(t.Context(), []Action{{Text: "up"}})
			if err != nil {
				t.Fatal(err)
			}
			number, _, _ := strings.Cut(got[0].Observation, "/")
			pid, err := strconv.Atoi(number)
			if err != nil {
				t.Fatalf("got %+v", got)
			}
			grouped := w.proc.group != nil
			if err := w.Close(); err != nil {
				t.Error(err)
			}
			if orphan == "True" && !grouped {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Error(err) // it lives, as the documentation says
				}
				continue
			}
			eventually(t, fmt.Sprintf("process %d of tier %s has ended", pid, tier), func() bool {
				stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
				return err != nil || strings.Contains(string(stat), ") Z ")
			})
		}
	}
}

// Folders of a process that was killed are removed, and only those.
func TestSweepFiles(t *testing.T) {
	name, err := maker.Name(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(name, "-")
	gone := strings.Join([]string{parts[0], parts[1], parts[2], "1"}, "-")
	temp := t.TempDir()
	for folder, stays := range map[string]bool{
		filesPrefix + name + "-1": true, filesPrefix + gone + "-1": false, gone + "-1": true, filesPrefix + "mine": true,
	} {
		if err := os.MkdirAll(filepath.Join(temp, folder, "sub"), 0o700); err != nil {
			t.Fatal(err)
		}
		sweepFiles(temp)
		if _, err := os.Stat(filepath.Join(temp, folder)); (err == nil) != stays {
			t.Errorf("%s: %v", folder, err)
		}
	}
	if err := os.Symlink(temp, filepath.Join(temp, filesPrefix+gone+"-2")); err != nil {
		t.Fatal(err)
	}
	sweepFiles(temp)
	if _, err := os.Stat(filepath.Join(temp, filesPrefix+name+"-1")); err != nil {
		t.Errorf("a link was followed: %v", err)
	}
}
