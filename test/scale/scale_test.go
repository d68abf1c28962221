//go:build linux

package scale

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"google.golang.org/protobuf/proto"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/schemas/event"
	"github.com/seed256f7767/spade/schemas/spadepb"
	"github.com/seed256f7767/spade/schemas/topics"
)

// The run that is measured: enough environments that every partition has some.
const (
	designs  = 128
	envSeeds = 4
	repeats  = 48
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

// connect is a client of the data folder's log, to ask it how long it is: that takes the workers' cores no time.
func (b *bench) connect() *bus.Client {
	b.Helper()
	env := map[string]string{}
	for line := range strings.Lines(string(b.output("up", "--print-env"))) {
		if name, value, ok := strings.Cut(strings.TrimSpace(strings.TrimPrefix(line, "export ")), "="); ok {
			env[name] = strings.Trim(value, "'\"")
		}
	}
	client, err := bus.New(bus.Config{
		Brokers: strings.Split(env["SPADE_KAFKA_BROKERS"], ","), Mechanism: strings.ToUpper(env["SPADE_KAFKA_SASL"]),
		User: env["SPADE_KAFKA_USER"], Password: secret.New(env["SPADE_KAFKA_PASSWORD"]),
	}, bus.Settings{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	return client
}

// await waits until a topic has n events of distinct ids and one type, and returns its events. It looks at them once the topic has as
// many records, so that looking takes nobody's time before.
func (b *bench) await(client *bus.Client, topic string, kind proto.Message, n int) (events []event.Event) {
	b.Helper()
	for deadline := time.Now().Add(5 * time.Minute); time.Now().Before(deadline); time.Sleep(250 * time.Millisecond) {
		ends, err := client.HighWatermarks(b.Context(), topic)
		if err != nil {
			b.Fatal(err)
		}
		records := 0
		for _, end := range ends {
			records += int(end)
		}
		if records < n {
			continue
		}
		events = events[:0]
		distinct := map[uuid.UUID]bool{}
		if err := client.Read(b.Context(), topic, nil, ends, func(ev event.Event) error {
			events = append(events, ev)
			if ev.Type == event.TypeOf(kind) {
				distinct[ev.ID] = true
			}
			return nil
		}); err != nil {
			b.Fatal(err)
		}
		if len(distinct) >= n {
			return events
		}
	}
	b.Fatalf("%s never had %d %s", topic, n, event.TypeOf(kind))
	return nil
}

// play has a run's environments designed and then played by n workers.
func (b *bench) play(n int) *played {
	b.Helper()
	up := b.start("up")
	b.output("run", "--submit", "--name", "scale", "--iterations", "1", "--designs", strconv.Itoa(designs),
		"--env-seeds", strconv.Itoa(envSeeds), "--repeats", strconv.Itoa(repeats), "--corpus", b.corpus)
	var stops []func()
	for _, role := range []string{"memory", "designer", "trainer"} {
		stops = append(stops, b.start("worker", role))
	}
	client := b.connect()
	b.await(client, topics.Environments, (*spadepb.EnvironmentAccepted)(nil), designs)
	for _, stop := range stops {
		stop()
	}
	for core := range n {
		stops = append(stops, b.startOn(core, "worker", "rollout", "--concurrency", "1"))
	}
	out := b.await(client, topics.Rollouts, (*spadepb.RolloutCompleted)(nil), episodes)
	for _, stop := range stops[3:] {
		stop()
	}
	up()
	return b.read(out, n)
}

// cores is what two busy cores do, times what one does: two on a machine of its own, and less where others want them too.
func cores() float64 {
	loop := func(until time.Time) (n float64) {
		x := uint64(1)
		for time.Now().Before(until) {
			for range 100_000 {
				x = x*6364136223846793005 + 1442695040888963407
			}
			n++
		}
		runtime.KeepAlive(x)
		return n
	}
	busy := func(threads int) float64 {
		until := time.Now().Add(time.Second)
		done := make([]float64, threads)
		var wg sync.WaitGroup
		for i := range done {
			wg.Go(func() { done[i] = loop(until) })
		}
		wg.Wait()
		sum := 0.0
		for _, n := range done {
			sum += n
		}
		return sum
	}
	one := busy(1)
	return busy(2) / one
}

// BenchmarkRolloutWorkers measures one rollout worker on one core, two on two, and one again, as machines are not the same from one
// minute to the next, and beside them what two cores are worth.
func BenchmarkRolloutWorkers(b *testing.B) {
	if runtime.NumCPU() < 2 {
		b.Fatal("two workers need two cores")
	}
	bin := build(b)
	for range b.N {
		before := cores()
		one := newBench(b, bin).play(1)
		two := newBench(b, bin).play(2)
		again := newBench(b, bin).play(1)
		times, window := two.times(one, again)
		if window < 3*time.Second {
			b.Fatalf("two workers played together for %s only", window)
		}
		b.Logf("one worker played %.0f and %.0f episodes a second; two played together for %s", one.rate(), again.rate(), window)
		b.ReportMetric((one.rate()+again.rate())/2, "one/s")
		b.ReportMetric(times, "times")
		b.ReportMetric((before+cores())/2, "cores")
	}
	b.ReportMetric(0, "ns/op")
}
