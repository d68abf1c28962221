package operations

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	otlp "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// drain is what the run gets to end, and late is after which it has ignored that, on a machine that does much else.
const (
	drain = "10"
	late  = 40 * time.Second
)

// program is the built program on one data folder.
type program struct {
	bin, corpus, data, traces string
}

func build(t *testing.T) program {
	t.Helper()
	dir := t.TempDir()
	for name, pkg := range map[string]string{"spade": "./cmd/spade", "spade-plugin-native": "./plugins/native"} {
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

// iterations take a run some seconds, so that it is still going on once it was looked at.
const iterations = 12

// run is the command that is tested.
func (p program) run(iterations int) *exec.Cmd {
	return exec.Command(p.bin, "run", "--json", "--data", p.data, "--name", "drained", "--seed", "3", "--iterations", strconv.Itoa(iterations),
		"--designs", "4", "--env-seeds", "2", "--repeats", "2", "--corpus", p.corpus, "--drain", drain,
		"--metrics-listen", "127.0.0.1:0", "--log-level", "info", "--log-format", "json", "--trace-endpoint", p.traces)
}

// digest runs the command to its end and returns the run's digest.
func (p program) digest(t *testing.T) string {
	t.Helper()
	cmd := p.run(iterations)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	var summary struct {
		Digest string `json:"log_digest"`
	}
	lines := bytes.Split(bytes.TrimSpace(out), []byte("\n"))
	if err := json.Unmarshal(lines[len(lines)-1], &summary); err != nil || summary.Digest == "" {
		t.Fatalf("the run ended with %q: %v", lines[len(lines)-1], err)
	}
	return summary.Digest
}

// interrupt starts a run, asks it to end while it works and looks how it does.
func (p program) interrupt(t *testing.T, asked syscall.Signal, iterations int) {
	t.Helper()
	cmd := p.run(iterations)
	logs, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := follow(logs)
	defer func() { _ = cmd.Process.Kill() }()
	addr := lines.await(t, "metrics are served")["addr"]
	waitFor(t, "episodes", func() bool {
		return strings.Contains(get(t, addr, "/metrics", http.StatusOK), `spade_episodes_total{`)
	})
	waitFor(t, "readiness", func() bool { return get(t, addr, "/readyz", 0) == "ready\n" })
	get(t, addr, "/livez", http.StatusOK)

	began := time.Now()
	if err := cmd.Process.Signal(asked); err != nil {
		t.Fatal(err)
	}
	defer time.AfterFunc(2*late, func() { _ = cmd.Process.Kill() }).Stop() // one that does not hear of it
	lines.wait()
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%s: it ended with %v, want exit code 1", asked, err)
	}
	if took := time.Since(began); took > late {
		t.Errorf("%s: it took %s to end, with a drain of %s s", asked, took, drain)
	}
	if text := lines.text(); !strings.Contains(text, "interrupted") || !strings.Contains(text, "takes the run up") {
		t.Errorf("%s: it ended with:\n%s", asked, text)
	}
}

func TestARunThatIsAskedToEndDrainsAndIsTakenUp(t *testing.T) {
	spans := collect(t)
	p := build(t)
	p.traces = spans.URL
	p.data = t.TempDir()
	undisturbed := p.digest(t)
	spans.forget()

	p.data = t.TempDir()
	p.interrupt(t, syscall.SIGTERM, iterations)
	if got := p.digest(t); got != undisturbed {
		t.Errorf("the digest of the run that was taken up is %s, that of the undisturbed one %s", got, undisturbed)
	}
	spans.check(t)
}

// A terminal that is closed takes nothing along that the run would have to do again.
func TestAClosedTerminalDrains(t *testing.T) {
	// Where this test runs under nohup the signal is ignored, and would be by the run as well; one that is caught is not inherited.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, syscall.SIGHUP)
	defer signal.Stop(caught)
	p := build(t)
	p.traces = collect(t).URL
	p.data = t.TempDir()
	p.interrupt(t, syscall.SIGHUP, 1000)
}

// get asks a path of the metrics' server; a code of 0 takes any answer, none included.
func get(t *testing.T, addr, path string, code int) string {
	t.Helper()
	res, err := http.Get("http://" + addr + path)
	if err != nil {
		if code != 0 {
			t.Fatal(err)
		}
		return ""
	}
	defer res.Body.Close()
	body, err := io.ReadAll(res.Body)
	if code != 0 && (err != nil || res.StatusCode != code) {
		t.Fatalf("%s answers %d: %v: %s", path, res.StatusCode, err, body)
	}
	return string(body)
}

func waitFor(t *testing.T, what string, cond func() bool) {
	t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !cond(); time.Sleep(100 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("not in time: %s", what)
		}
	}
}

// stream is what a command writes to standard error, line by line.
type stream struct {
	done chan struct{}

	mu    sync.Mutex // guards the following
	lines []string
}

func follow(r io.Reader) *stream {
	s := &stream{done: make(chan struct{})}
	go func() {
		defer close(s.done)
		for scan := bufio.NewScanner(r); scan.Scan(); {
			s.mu.Lock()
			s.lines = append(s.lines, scan.Text())
			s.mu.Unlock()
		}
	}()
	return s
}

func (s *stream) wait() { <-s.done }

func (s *stream) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.lines, "\n")
}

// await returns the fields of the line with a message.
func (s *stream) await(t *testing.T, msg string) (fields map[string]string) {
	t.Helper()
	waitFor(t, "the line "+msg, func() bool {
		for line := range strings.Lines(s.text()) {
			var any map[string]any
			if json.Unmarshal([]byte(line), &any) != nil || any["msg"] != msg {
				continue
			}
			fields = map[string]string{}
			for k, v := range any {
				if text, ok := v.(string); ok {
					fields[k] = text
				}
			}
			if fields["role"] != "run" || fields["worker"] == "" {
				t.Errorf("a line does not name its process: %s", line)
			}
			return true
		}
		return false
	})
	return fields
}

// collected are the spans that a collector was sent.
type collected struct {
	*httptest.Server
	mu    sync.Mutex // guards the following
	spans []*otlp.Span
	posts int
}

func collect(t *testing.T) *collected {
	t.Helper()
	c := &collected{}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var msg collector.ExportTraceServiceRequest
		if err != nil || proto.Unmarshal(body, &msg) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		c.posts++
		for _, of := range msg.GetResourceSpans() {
			for _, scope := range of.GetScopeSpans() {
				c.spans = append(c.spans, scope.GetSpans()...)
			}
		}
	}))
	t.Cleanup(c.Close)
	return c
}

func (c *collected) forget() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spans = nil
}

// check wants every environment that was trained on to be one connected trace from its request to the update, whichever of
// the two processes did what.
func (c *collected) check(t *testing.T) {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	traces := map[string]map[string]*otlp.Span{}
	for _, s := range c.spans {
		trace := string(s.GetTraceId())
		if traces[trace] == nil {
			traces[trace] = map[string]*otlp.Span{}
		}
		traces[trace][string(s.GetSpanId())] = s
	}
	whole := 0
	for _, spans := range traces {
		names := map[string]int{}
		for _, s := range spans {
			names[s.GetName()]++
			above := spans[string(s.GetParentSpanId())]
			if len(s.GetParentSpanId()) > 0 && above == nil {
				t.Errorf("%s has a parent that nobody sent", s.GetName())
			}
			if above != nil && s.GetStartTimeUnixNano() < above.GetStartTimeUnixNano() && above.GetName() != "BatchBuilt" {
				t.Errorf("%s begins %s before %s, its parent", s.GetName(),
					time.Duration(above.GetStartTimeUnixNano()-s.GetStartTimeUnixNano()), above.GetName())
			}
			if s.GetEndTimeUnixNano() < s.GetStartTimeUnixNano() {
				t.Errorf("%s ends before it begins", s.GetName())
			}
		}
		if names["DesignRequested"] == 1 && names["RolloutCompleted"] == 8 && names["RegretEstimated"] == 1 &&
			names["DesignerRewarded"] == 1 && names["PolicyUpdated"] >= 1 {
			whole++
		}
	}
	if whole < 4 {
		t.Errorf("%d of %d traces go from the request to the update", whole, len(traces))
	}
	t.Logf("%d spans of %d environments in %d posts; %d whole", len(c.spans), len(traces), c.posts, whole)
}
