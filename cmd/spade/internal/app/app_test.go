package app

import (
	"context"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse"
	chdb "github.com/seed256f7767/spade/internal/embedded/clickhouse/child"
	"github.com/seed256f7767/spade/internal/embedded/kafka"
	"github.com/seed256f7767/spade/internal/embedded/qdrant"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/olap"
	"github.com/seed256f7767/spade/internal/secret"
	"github.com/seed256f7767/spade/internal/vector"
	"github.com/seed256f7767/spade/producers/corpus"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case gym.ChildCommand:
			os.Exit(gym.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case chdb.Command:
			os.Exit(chdb.Main(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		}
	}
	os.Exit(m.Run())
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

// servers starts the three embedded servers in a folder and says where they are.
func servers(t *testing.T, dir string) Endpoints {
	t.Helper()
	password := secret.New("a secret of the test")
	k, err := kafka.New(kafka.Config{Dir: filepath.Join(dir, "kafka"), User: "spade", Password: password}, kafka.Settings{})
	must(t, err)
	must(t, k.Start(t.Context()))
	q, err := qdrant.New(qdrant.Config{Dir: filepath.Join(dir, "qdrant"), Addr: "127.0.0.1:0", APIKey: password}, qdrant.Settings{})
	must(t, err)
	must(t, q.Start(t.Context()))
	c, err := clickhouse.New(clickhouse.Config{
		Dir: filepath.Join(dir, "clickhouse"), User: "spade", Password: password,
	}, clickhouse.Settings{})
	must(t, err)
	must(t, c.Start(t.Context()))
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		for _, err := range []error{k.Shutdown(ctx), q.Shutdown(ctx), c.Shutdown(ctx)} {
			if err != nil {
				t.Error(err)
			}
		}
	})
	return Endpoints{
		Kafka: bus.Config{
			Brokers: []string{k.Addr()}, Mechanism: kafka.Mechanism, User: "spade", Password: password, SessionTimeout: 6 * time.Second,
		},
		ClickHouse: olap.Config{URL: c.URL(), User: "spade", Password: password},
		Qdrant:     vector.Config{Addr: q.Addr(), APIKey: password},
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

type logView struct{ t *testing.T }

func (v logView) Update(progress.State) error { return nil }

func TestARunFromTheCorpusToTheWarehouse(t *testing.T) {
	l, err := config.Load(config.Sources{})
	must(t, err)
	l.Run.Iterations, l.Run.Designs, l.Run.EnvSeeds, l.Run.Repeats = 2, 4, 2, 2
	l.Corpus = []string{"../../../../examples/corpus"}
	l.Plugin.Command = plugin(t)
	log := slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	start := time.Now()
	s, err := Open(t.Context(), l, servers(t, t.TempDir()), log)
	must(t, err)
	t.Cleanup(func() { must(t, s.Close(context.Background())) })
	t.Logf("open %s", time.Since(start))
	summary, err := s.RunLoop(t.Context(), l, logView{t}, func(corpus.Progress) {})
	must(t, err)
	t.Logf("%s %+v", time.Since(start), summary)
}
