package crash

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// victims are the processes that are killed, by what tells them apart. The client is the command itself.
var victims = []string{"client", "supervisor", "plugin", "clickhouse", "worker"}

// summary is what `spade run --json` prints last.
type summary struct {
	RunID     string `json:"run_id"`
	LogDigest string `json:"log_digest"`
	Designed  int    `json:"designed"`
	Accepted  int    `json:"accepted"`
	Rejected  int    `json:"rejected"`
	Rollouts  int    `json:"rollouts"`
	Steps     int    `json:"steps"`
}

// program is the built program.
type program struct {
	bin, corpus string
	flags       []string // of the run, beside what makes it small
}

func build(t *testing.T) program {
	t.Helper()
	dir := t.TempDir()
	for name, pkg := range map[string]string{
		"spade": "./cmd/spade", "spade-plugin-native": "./plugins/native",
	} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	corpus, err := filepath.Abs("../../examples/corpus")
	if err != nil {
		t.Fatal(err)
	}
	return program{bin: filepath.Join(dir, "spade"), corpus: corpus}
}

// run is the command that is tested: a small run.
func (p program) run(data string) *exec.Cmd {
	args := append([]string{
		"run", "--json", "--data", data, "--name", "crash", "--seed", "7", "--iterations", "3", "--designs", "4",
		"--env-seeds", "2", "--repeats", "2", "--corpus", p.corpus,
	}, p.flags...)
	cmd := exec.Command(p.bin, args...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// finish runs the command to its end and reads its summary.
func (p program) finish(t *testing.T, data string) summary {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := p.run(data)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v: %v\n%s", cmd.Args, err, errs.String())
	}
	return parse(t, out.String())
}

func parse(t *testing.T, out string) summary {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(out), "\n")
	var s summary
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &s); err != nil || s.LogDigest == "" {
		t.Fatalf("last line %q: %v", lines[len(lines)-1], err)
	}
	return s
}

func TestAKilledRunEndsLikeAnUninterruptedOne(t *testing.T) {
	rounds, seed := setting(t, "CRASH_ROUNDS", 3), setting(t, "CRASH_SEED", 1)
	p := build(t)
	for name, flags := range map[string][]string{
		"on-policy": nil,
		"with lag":  {"--max-policy-lag", "2"},
	} {
		t.Run(name, func(t *testing.T) {
			p.flags = flags
			interrupted(t, p, rounds, seed)
		})
	}
}

func interrupted(t *testing.T, p program, rounds, seed int) {
	t.Helper()
	want := p.finish(t, folder(t))
	t.Logf("seed %d; uninterrupted: %+v", seed, want)

	random := rand.New(rand.NewPCG(uint64(seed), 0))
	data := folder(t)
	kills := 0
	for kills < rounds {
		// A finished run leaves nothing to kill: the next one begins on a fresh folder.
		if s, done := p.interrupt(t, data, random, &kills, rounds); done {
			compare(t, p, data, s, want)
			data = folder(t)
		}
	}
	compare(t, p, data, p.finish(t, data), want)
}

// folder is a data folder that is removed once its services have ended.
func folder(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	t.Cleanup(func() {
		for range 900 {
			if len(find(t, dir, "supervisor", 0)) == 0 {
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
		t.Errorf("the services of %s do not end", dir)
	})
	return dir
}

func setting(t *testing.T, name string, otherwise int) int {
	t.Helper()
	v := os.Getenv(name)
	if v == "" {
		return otherwise
	}
	n, err := strconv.Atoi(v)
	if err != nil {
		t.Fatalf("%s is %q: %v", name, v, err)
	}
	return n
}

// interrupt starts the run and kills processes of it until it ends: by itself, or because the client was killed.
func (p program) interrupt(t *testing.T, data string, random *rand.Rand, kills *int, rounds int) (s summary, done bool) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := p.run(data)
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		delay := time.Duration(100+random.IntN(4000)) * time.Millisecond
		victim := victims[random.IntN(len(victims))]
		if *kills >= rounds {
			delay = 5 * time.Minute
		}
		select {
		case err := <-ended:
			return p.ended(t, err, &out, &errs)
		case <-time.After(delay):
		}
		pids := find(t, data, victim, cmd.Process.Pid)
		if len(pids) == 0 {
			continue
		}
		pid := pids[random.IntN(len(pids))]
		t.Logf("kill %d: %s (pid %d)", *kills+1, victim, pid)
		*kills++
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
			t.Fatal(err)
		}
	}
}

// ended judges how the command ended: with a summary, killed, or with an error that a crash explains and that says so.
func (p program) ended(t *testing.T, err error, out, errs *bytes.Buffer) (summary, bool) {
	t.Helper()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return parse(t, out.String()), true
	case errors.As(err, &exit) && (exit.ExitCode() == -1 || exit.ExitCode() == 1):
		t.Logf("ended: %v\n%s", err, tail(errs.String()))
		return summary{}, false
	default:
		t.Fatalf("ended: %v\n%s", err, errs.String())
		return summary{}, false
	}
}

func tail(s string) string {
	if len(s) > 2000 {
		return "…" + s[len(s)-2000:]
	}
	return s
}

// compare checks the digest and that the warehouse holds what the log holds, once.
func compare(t *testing.T, p program, data string, got, want summary) {
	t.Helper()
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	out, err := exec.Command(p.bin, "verify", "--data", data, "crash").CombinedOutput()
	if err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
}
