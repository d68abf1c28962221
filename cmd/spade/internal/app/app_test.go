package app

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/internal/config"
	chdb "github.com/seed256f7767/spade/internal/embedded/clickhouse/child"
	"github.com/seed256f7767/spade/internal/embedded/servicestest"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
)

func TestMain(m *testing.M) {
	gymtest.WorkerMain()
	if len(os.Args) > 1 && os.Args[1] == chdb.Command {
		os.Exit(chdb.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
	}
	goleak.VerifyTestMain(m)
}

// plugin builds the native plugin once.
func plugin(t *testing.T) []string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "spade-plugin-native")
	out, err := exec.Command("go", "build", "-o", path, "github.com/seed256f7767/spade/plugins/native").CombinedOutput()
	if err != nil {
		t.Fatalf("build the plugin: %v\n%s", err, out)
	}
	return []string{path}
}

// servers are the three services, embedded in a folder unless the environment names others.
func servers(t *testing.T, dir string) Endpoints {
	t.Helper()
	at := servicestest.Start(t, dir)
	return Endpoints{Kafka: at.Kafka, ClickHouse: at.ClickHouse, Qdrant: at.Qdrant}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// silent is a view that shows nothing.
type silent struct{}

func (silent) Update(progress.State) error { return nil }

// small is a run that takes seconds.
func small(t *testing.T, command []string) config.Loaded {
	t.Helper()
	l, err := config.Load(config.Sources{})
	must(t, err)
	l.Run.Iterations, l.Run.Designs, l.Run.EnvSeeds, l.Run.Repeats = 2, 4, 2, 2
	l.Corpus = []string{"../../../../examples/corpus"}
	l.Plugin.Command = command
	return l
}

// withPython is for runs that play Python: what its full sandbox needs is not allowed everywhere, and has tests of its own.
func withPython(l config.Loaded) config.Loaded {
	l.Sandbox.Tier = "limits"
	return l
}

// play runs a run on servers, compares the warehouse with the log, and closes what it opened.
func play(t *testing.T, l config.Loaded, at Endpoints) Summary {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	s, err := Open(t.Context(), l, at, log)
	must(t, err)
	summary, err := s.RunLoop(t.Context(), l, silent{}, nil)
	must(t, err)
	run, err := FindRun(t.Context(), s.Bus, summary.RunID)
	must(t, err)
	v, err := s.Verify(t.Context(), run)
	must(t, errors.Join(err, s.Close(context.WithoutCancel(t.Context()))))
	for _, d := range v.Differences {
		t.Errorf("run %s: %s", run.Name, d)
	}
	return summary
}

func TestTheSameSeedGivesTheSameLog(t *testing.T) {
	command := plugin(t)
	fresh := servers(t, t.TempDir())
	fresh.Kafka = bustest.Start(t).Config() // the embedded log, also where the other is a cluster
	used := servers(t, t.TempDir())

	l := small(t, command)
	l.Run.Name = "one"
	l.Workers = 1
	want := play(t, l, fresh)

	other := small(t, command)
	other.Run.Name, other.Run.Seed = "two", 2
	different := play(t, other, used)

	l.Workers = 5
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	got := play(t, l, used)

	if got.LogDigest != want.LogDigest || got.Events != want.Events {
		t.Errorf("digest %s of %d events, then %s of %d", want.LogDigest, want.Events, got.LogDigest, got.Events)
	}
	if different.LogDigest == want.LogDigest {
		t.Error("another seed gives the same digest")
	}
	if want.Designed != want.Accepted+want.Rejected || want.Designed == 0 || want.Rollouts == 0 {
		t.Errorf("summary %+v", want)
	}
	if again := play(t, l, used); again.LogDigest != want.LogDigest {
		t.Errorf("asked for once more, a finished run has digest %s", again.LogDigest)
	}
}
