//go:build linux

package chaos

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/seed256f7767/spade/schemas/ids"
)

// small is the size of a run: some seconds on a quiet machine.
func small() []string {
	return []string{"--iterations", "16", "--designs", "3", "--env-seeds", "2", "--repeats", "1"}
}

// runArgs is the command line of a run.
func (w *world) runArgs(name string) []string {
	args := []string{"run", "--json", "--name", name, "--seed", fmt.Sprint(w.set.seed), "--corpus", w.corpus}
	return append(args, small()...)
}

// ensureRun makes sure that there is a run to disturb.
func (w *world) ensureRun() {
	if len(w.runs) > 0 && !w.seen.isFinished(w.run()) {
		return
	}
	name := w.name(fmt.Sprintf("run%d", len(w.runs)))
	w.runs = append(w.runs, name)
	w.log.add("run %s begins (%s)", name, ids.Run(name))
	w.submit(name)
}

// submit opens a run that the workers take up. What a fault left broken may take a while to mend.
func (w *world) submit(name string) {
	for deadline := time.Now().Add(time.Minute); ; {
		_, err := w.tool(append(w.runArgs(name), "--submit")...)
		if err == nil {
			return
		}
		if time.Now().After(deadline) {
			w.t.Fatalf("run %s cannot be submitted: %v", name, err)
		}
		w.log.add("run %s is submitted again: %s", name, lastLine([]byte(err.Error())))
	}
}

// finish waits for the end of the last run.
func (w *world) finish() {
	if len(w.runs) == 0 {
		return
	}
	if err := w.seen.await(3*time.Minute, func() bool { return w.seen.isFinished(w.run()) }); err != nil {
		w.problem("run %s does not end: %v", w.runs[len(w.runs)-1], err)
	}
	w.log.add("the last run is over")
}

// quiet runs every run of the world once more, each in one process on a folder where nothing happens, and returns their digests.
func (w *world) quiet() map[string]string {
	out := map[string]string{}
	for _, name := range w.runs {
		cmd := exec.Command(w.bin, append(w.runArgs(name), "--data", filepath.Join(w.dir, "quiet"))...)
		cmd.Env = plainEnviron()
		var problems bytes.Buffer
		cmd.Stderr = &problems
		printed, err := cmd.Output()
		if err != nil {
			w.problem("the uninterrupted run: %v\n%s", err, problems.String())
			return out
		}
		var sum struct {
			LogDigest string `json:"log_digest"`
		}
		if err := json.Unmarshal([]byte(lastLine(printed)), &sum); err != nil {
			w.problem("the uninterrupted run ended with %q: %v", lastLine(printed), err)
			return out
		}
		out[name] = sum.LogDigest
	}
	return out
}
