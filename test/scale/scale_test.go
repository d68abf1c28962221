//go:build linux

package scale

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"testing"
	"time"
)

// The run that is measured: enough environments that every partition has some.
const (
	designs  = 64
	envSeeds = 4
	repeats  = 8
	episodes = designs * envSeeds * repeats * 2 // both arms
)

// bench is a data folder with the program's processes on it.
type bench struct {
	*testing.B
	bin, data, corpus string
}

func newBench(b *testing.B, bin string) *bench {
	b.Helper()
	data, err := os.MkdirTemp("", "spade-scale-")
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = os.RemoveAll(data) })
	corpus, err := filepath.Abs("../../examples/corpus")
	if err != nil {
		b.Fatal(err)
	}
	return &bench{B: b, bin: bin, data: data, corpus: corpus}
}

func build(b *testing.B) string {
	b.Helper()
	dir := b.TempDir()
	for name, pkg := range map[string]string{"spade": "./cmd/spade", "spade-plugin-native": "./plugins/native"} {
		cmd := exec.Command("go", "build", "-o", filepath.Join(dir, name), pkg)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	return filepath.Join(dir, "spade")
}

// start starts a command of the program and ends it, with a drain, when the measurement is over.
func (b *bench) start(args ...string) (stop func()) {
	b.Helper()
	return b.run(exec.Command(b.bin, append(args, "--data", b.data)...))
}

// startOn starts a command that has one core.
func (b *bench) startOn(core int, args ...string) (stop func()) {
	b.Helper()
	args = append([]string{"-c", strconv.Itoa(core), b.bin}, append(args, "--data", b.data)...)
	cmd := exec.Command("taskset", args...)
	cmd.Env = append(os.Environ(), "GOMAXPROCS=1")
	return b.run(cmd)
}

func (b *bench) run(cmd *exec.Cmd) (stop func()) {
	b.Helper()
	var log bytes.Buffer
	cmd.Stderr = &log
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	stopped := false
	stop = func() {
		if stopped {
			return
		}
		stopped = true
		_ = cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			b.Errorf("%v: %v\n%s", cmd.Args, err, log.String())
		}
	}
	b.Cleanup(stop)
	return stop
}

func (b *bench) output(args ...string) []byte {
	b.Helper()
	out, err := exec.Command(b.bin, append(args, "--data", b.data)...).Output()
	if err != nil {
		b.Fatalf("%v: %v", args, err)
	}
	return out
}

// episode is what events cat says of one.
type episode struct {
	Observed struct {
		Producer string    `json:"producer"`
		Started  time.Time `json:"started_at"`
		Finished time.Time `json:"finished_at"`
	} `json:"observed"`
}

// count waits until a topic holds n lines of the run that hold a text.
func (b *bench) count(topic, text string, n int) []byte {
	b.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(500 * time.Millisecond) {
		out := b.output("events", "cat", topic, "--run", "scale", "--json")
		if bytes.Count(out, []byte(text)) >= n {
			return out
		}
	}
	b.Fatalf("%s never held %d of %s", topic, n, text)
	return nil
}

// play has a run's environments designed and then played by n workers, and returns episodes a second: of the time in which
// every worker had something to play.
func (b *bench) play(n int) float64 {
	b.Helper()
	up := b.start("up")
	b.output("run", "--submit", "--name", "scale", "--iterations", "1", "--designs", strconv.Itoa(designs),
		"--env-seeds", strconv.Itoa(envSeeds), "--repeats", strconv.Itoa(repeats), "--corpus", b.corpus)
	var stops []func()
	for _, role := range []string{"memory", "designer", "trainer"} {
		stops = append(stops, b.start("worker", role))
	}
	b.count("environments", `"ce_type":"spade.v1.EnvironmentAccepted"`, designs*9/10)
	accepted := bytes.Count(b.count("environments", "", 0), []byte(`"ce_type":"spade.v1.EnvironmentAccepted"`))
	for _, stop := range stops {
		stop()
	}
	for core := range n {
		stops = append(stops, b.startOn(core, "worker", "rollout", "--concurrency", "1"))
	}
	out := b.count("rollouts", `"ce_type":"spade.v1.RolloutCompleted"`, episodes*accepted/designs)
	for _, stop := range stops[3:] {
		stop()
	}
	up()
	return b.rate(out, n)
}

func (b *bench) rate(lines []byte, workers int) float64 {
	b.Helper()
	var all []episode
	last := map[string]time.Time{}
	var first time.Time
	scan := bufio.NewScanner(bytes.NewReader(lines))
	scan.Buffer(nil, 64<<20)
	for scan.Scan() {
		var e episode
		if err := json.Unmarshal(scan.Bytes(), &e); err != nil {
			b.Fatal(err)
		}
		all = append(all, e)
		if first.IsZero() || e.Observed.Started.Before(first) {
			first = e.Observed.Started
		}
		if e.Observed.Finished.After(last[e.Observed.Producer]) {
			last[e.Observed.Producer] = e.Observed.Finished
		}
	}
	if scan.Err() != nil || len(last) != workers {
		b.Fatalf("%d workers played, %d were started: %v", len(last), workers, scan.Err())
	}
	var end time.Time
	for _, at := range last {
		if end.IsZero() || at.Before(end) {
			end = at
		}
	}
	played := 0
	for _, e := range all {
		if !e.Observed.Finished.After(end) {
			played++
		}
	}
	return float64(played) / end.Sub(first).Seconds()
}

// BenchmarkRolloutWorkers measures one rollout worker on one core, then two on two.
func BenchmarkRolloutWorkers(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Fatal("two workers need two cores")
	}
	bin := build(b)
	for range b.N {
		one := newBench(b, bin).play(1)
		two := newBench(b, bin).play(2)
		b.ReportMetric(one, "one/s")
		b.ReportMetric(two, "two/s")
		b.ReportMetric(two/one, "times")
	}
	b.ReportMetric(0, "ns/op")
}
