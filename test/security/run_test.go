//go:build linux

package security

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/trust/trusttest"
)

func TestMain(m *testing.M) {
	clickhousetest.Child()
	goleak.VerifyTestMain(m)
}

// program is the built program, its surroundings, and who looks at what it says.
type program struct {
	bin     string
	environ []string
	hunt    *hunt
	parents *parents
}

func build(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, pkg := range map[string]string{"spade": "./cmd/spade", "spade-plugin-native": "./plugins/native"} {
		cmd := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, name), pkg)
		cmd.Dir = "../.."
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("build %s: %v\n%s", name, err, out)
		}
	}
	return filepath.Join(dir, "spade")
}

// begin starts a command; wait ends when it does, and looks through what it printed.
func (p *program) begin(t *testing.T, extra []string, args ...string) (cmd *exec.Cmd, wait func() (string, error)) {
	t.Helper()
	var out bytes.Buffer
	cmd = exec.CommandContext(t.Context(), p.bin, args...)
	cmd.Env = append(append(cmd.Env, p.environ...), extra...)
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := cmd.Start(); err != nil {
		return cmd, func() (string, error) {
			t.Errorf("%v cannot be started: %v", args, err)
			return "", err
		}
	}
	p.parents.add(cmd.Process.Pid)
	return cmd, func() (string, error) {
		err := cmd.Wait()
		p.hunt.search("output", strings.Join(args, " "), out.Bytes())
		return out.String(), err
	}
}

func (p *program) run(t *testing.T, extra []string, args ...string) (string, error) {
	t.Helper()
	_, wait := p.begin(t, extra, args...)
	return wait()
}

func freeAddr(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }() // only its number was wanted
	return l.Addr().String()
}

// TestNoSecretIsFoundAnywhere runs the program as its users do, on services of their own behind TLS, with a canary for every
// secret, and looks for them in all that it leaves behind.
func TestNoSecretIsFoundAnywhere(t *testing.T) {
	w := start(t)
	data := t.TempDir()
	h := newHunt(kafkaPassword, clickPassword, qdrantKey, embeddingsKey, s3Secret, policyToken, anotherOfTheirs)
	p := &program{bin: build(t), hunt: h, parents: &parents{pids: map[int]bool{}}}
	p.environ = append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + os.Getenv("HOME"), "SPADE_DATA=" + data}, w.environ()...)
	stop := watch(t, h, p.parents)

	playAlong(t, p)
	for _, args := range [][]string{
		{"config", "print"},
		{"config", "print", "--json"},
		{"doctor"},
		{"show", "canaries"},
		{"digest", "canaries"},
		{"runs"},
		{"events", "cat", "runs"},
		{"events", "cat", "environments"},
		{"sql", "SELECT * FROM runs"},
		{"verify", "canaries"},
	} {
		if out, err := p.run(t, nil, args...); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
	provoke(t, p, w)

	seen := stop()
	if seen["plugin"] == 0 || seen["worker"] == 0 {
		t.Errorf("processes that were looked at: %v", seen)
	}
	if n := w.records(t, h); n < 100 {
		t.Errorf("the log has %d records", n)
	}
	w.tables(t, h)
	w.states(t, h)
	h.folder(t, "data folder", data)
	h.folder(t, "files of the log", w.kafkaDir)
	h.folder(t, "files of the vector store", w.vecDir)
	h.folder(t, "files of the warehouse", w.clickDir)
	h.report(t, "output", "log", "headers", "warehouse", "files of the log", "files of the vector store", "files of the warehouse", "processes", "metrics")
}

// playAlong is a small run, with a policy worker and a rollout worker that asks it beside it.
func playAlong(t *testing.T, p *program) {
	t.Helper()
	metrics, policy := freeAddr(t), freeAddr(t)
	var workers []func()
	worker := func(extra []string, args ...string) {
		cmd, wait := p.begin(t, extra, append([]string{"worker"}, args...)...)
		workers = append(workers, func() {
			if cmd.Process == nil {
				return
			}
			if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
				t.Error(err)
			}
			if out, err := wait(); err != nil {
				t.Errorf("worker %v: %v\n%s", args, err, out)
			}
		})
	}
	worker(nil, "policy", "--policy-listen", policy)
	worker([]string{"SPADE_POLICY_ADDR=" + policy}, "rollout")
	_, wait := p.begin(t, []string{"SPADE_METRICS_LISTEN=" + metrics}, "run", "--name", "canaries", "--seed", "7", "--iterations", "2",
		"--designs", "3", "--env-seeds", "2", "--repeats", "2", "--corpus", "../../examples/corpus")
	stop := scrape(t, p.hunt, metrics)
	out, err := wait()
	stop()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, end := range workers {
		end()
	}
}

// scrape looks through the metrics until stop is called.
func scrape(t *testing.T, h *hunt, addr string) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
			if err != nil {
				return
			}
			if resp, err := client.Do(req); err == nil {
				body, _ := io.ReadAll(resp.Body) // cut short when the run ends
				_ = resp.Body.Close()
				h.search("metrics", addr, body)
			}
			select {
			case <-ctx.Done():
			case <-time.After(200 * time.Millisecond):
			}
		}
	}()
	return func() {
		cancel()
		<-ended
	}
}

// provoke makes the program complain of everything that has a secret.
func provoke(t *testing.T, p *program, w *servers) {
	t.Helper()
	stranger := trusttest.NewCA(t)
	nobody := freeAddr(t)
	wrong := canary(anotherOfTheirs)
	var all sync.WaitGroup // most of it is waiting
	fails := func(name string, extra []string, args ...string) {
		all.Go(func() {
			if out, err := p.run(t, extra, args...); err == nil {
				t.Errorf("%s: %v finds nothing\n%s", name, args, out)
			}
		})
	}
	fails("another authority", []string{
		"SPADE_CLICKHOUSE_CA=" + stranger.File, "SPADE_QDRANT_CA=" + stranger.File, "SSL_CERT_FILE=" + stranger.File,
	}, "doctor")
	fails("plain text", []string{
		"SPADE_CLICKHOUSE_URL=http://spade:x@" + w.clickTLS, "SPADE_CLICKHOUSE_CA=", "SPADE_QDRANT_TLS=false", "SPADE_QDRANT_CA=",
	}, "doctor")
	fails("nobody there", []string{"SPADE_KAFKA_BROKERS=" + nobody, "SPADE_QDRANT_ADDR=" + nobody}, "doctor")
	fails("wrong passwords", []string{
		"SPADE_KAFKA_PASSWORD=" + wrong, "SPADE_QDRANT_API_KEY=" + wrong, "SPADE_CLICKHOUSE_URL=https://" + w.clickTLS,
		"SPADE_CLICKHOUSE_USER=spade", "SPADE_CLICKHOUSE_PASSWORD=" + wrong,
	}, "doctor")
	fails("an address that is none", []string{"SPADE_CLICKHOUSE_URL=https://me:" + wrong + "@db:port:x"}, "config", "print")
	fails("a login in a query", []string{"SPADE_EMBEDDINGS_URL=https://e/v1?key=" + wrong}, "config", "print")
	fails("logins in hosts", []string{
		"SPADE_QDRANT_ADDR=" + wrong + "@q:6334", "SPADE_KAFKA_BROKERS=" + wrong + "@q:6334", "SPADE_S3_ENDPOINT=https://u:" + wrong + "@s",
	}, "config", "print")
	// A server that repeats the key which it refuses.
	fails("no embeddings", []string{"SPADE_EMBEDDINGS_KEY=" + wrong}, "run", "--name", "keyless", "--iterations", "1", "--designs", "1")
	all.Wait()
}
