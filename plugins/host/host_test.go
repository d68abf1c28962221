package host_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/seed256f7767/spade/internal/policy"
	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/host"
	"github.com/seed256f7767/spade/plugins/plugintest"
	"github.com/seed256f7767/spade/plugins/sdk"
)

const modeEnv = "SPADE_HOST_TEST"

// TestMain makes this binary its own plugin: with the mode in the environment it behaves, or misbehaves, as one.
func TestMain(m *testing.M) {
	switch mode := os.Getenv(modeEnv); mode {
	case "":
		goleak.VerifyTestMain(m)
	case "host":
		actAsHost("echo")
	case "host of one that hangs":
		actAsHost("hangs")
	default:
		actAsPlugin(mode)
	}
}

func actAsPlugin(mode string) {
	var t sdk.Trainer = &plugintest.Echo{}
	switch mode {
	case "prints":
		fmt.Println("Loading the \x1b[31mweights\x1b[0m ...")
	case "exits":
		for i := range 30 {
			fmt.Fprintln(os.Stderr, "cause line", i)
		}
		os.Exit(7)
	case "hangs":
		if dir := os.Getenv("SPADE_HOST_TEST_DIR"); dir != "" {
			_ = os.WriteFile(filepath.Join(dir, "pid"), []byte(strconv.Itoa(os.Getpid())), 0o600)
		}
		time.Sleep(time.Hour)
	case "no line end":
		fmt.Print(strings.Repeat("x", 100_000))
		time.Sleep(time.Hour)
	case "env":
		var names []string
		for _, e := range os.Environ() {
			if name, _, _ := strings.Cut(e, "="); strings.HasPrefix(name, "SPADE_") {
				names = append(names, name)
			}
		}
		fmt.Println(strings.Join(names, " "))
		return
	case "dies":
		t = dies{t}
	case "hangs up":
		t = hangsUp{t}
	case "unavailable":
		t = unavailable{t}
	case "short":
		t = short{t}
	case "forgets":
		t = forgets{t}
	case "stays":
		t = stays{t}
	case "retry":
		t = retry{t}
	case "panics":
		t = panics{t}
	case "chatty":
		t = chatty{t}
	}
	sdk.Serve(t)
}

type dies struct{ sdk.Trainer }

func (d dies) Train(_ context.Context, _, _ int64, batches plugins.Batches) (plugins.Result, error) {
	for range batches {
		fmt.Fprintln(os.Stderr, "out of memory at layer 3")
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return plugins.Result{}, nil
}

// hangsUp loses its connection and lives: to its host it looks like one that has died and is not gone yet.
type hangsUp struct{ sdk.Trainer }

func (h hangsUp) Generate(context.Context, policy.Role, int64, []policy.Prompt, func([]policy.Completion) error) error {
	for fd := range 256 {
		_ = syscall.Shutdown(fd, syscall.SHUT_RDWR)
	}
	time.Sleep(time.Hour)
	return nil
}

type unavailable struct{ sdk.Trainer }

func (u unavailable) Generate(context.Context, policy.Role, int64, []policy.Prompt, func([]policy.Completion) error) error {
	return status.Error(codes.Unavailable, "no device")
}

type short struct{ sdk.Trainer }

func (s short) Generate(ctx context.Context, r policy.Role, v int64, p []policy.Prompt, emit func([]policy.Completion) error) error {
	return s.Trainer.Generate(ctx, r, v, p[:len(p)-1], emit)
}

type forgets struct{ sdk.Trainer }

func (f forgets) Train(ctx context.Context, from, to int64, _ plugins.Batches) (plugins.Result, error) {
	return f.Trainer.Train(ctx, from, to, func(func(arrow.Record, error) bool) {})
}

type stays struct{ sdk.Trainer }

func (s stays) Shutdown(ctx context.Context) error {
	<-ctx.Done()
	time.Sleep(time.Hour)
	return nil
}

type retry struct{ sdk.Trainer }

func (r retry) Generate(context.Context, policy.Role, int64, []policy.Prompt, func([]policy.Completion) error) error {
	return &plugins.RetryAfterError{After: 1500 * time.Millisecond, Message: "device is busy"}
}

type panics struct{ sdk.Trainer }

func (p panics) Generate(context.Context, policy.Role, int64, []policy.Prompt, func([]policy.Completion) error) error {
	panic("a bug of the plugin")
}

type chatty struct{ sdk.Trainer }

func (c chatty) Generate(ctx context.Context, r policy.Role, v int64, p []policy.Prompt, emit func([]policy.Completion) error) error {
	fmt.Println(strings.Repeat("progress ", 50_000))
	// A library in C writes to the descriptor itself, and need not end its lines.
	if _, err := syscall.Write(1, bytes.Repeat([]byte("."), 300_000)); err != nil {
		return err
	}
	return c.Trainer.Generate(ctx, r, v, p, emit)
}

// socketDir is a folder with a short path, which t.TempDir does not promise.
func socketDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "sp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

func config(t testing.TB, mode string) host.Config {
	t.Helper()
	return host.Config{Command: []string{os.Args[0]}, Env: []string{modeEnv + "=" + mode}, SocketDir: socketDir(t), StartTimeout: time.Minute}
}

func launch(t testing.TB, mode string) *host.Plugin {
	t.Helper()
	p, err := host.Launch(context.Background(), config(t, mode), host.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Shutdown(context.Background()) })
	if _, err := p.Open(context.Background(), "{}", 0, nil); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestConformance(t *testing.T) {
	plugintest.Run(t, func(ctx context.Context) (*host.Plugin, error) {
		return host.Launch(ctx, config(t, "echo"), host.Settings{})
	})
}

func TestPrintBeforeHandshakeIsShown(t *testing.T) {
	_, err := host.Launch(t.Context(), config(t, "prints"), host.Settings{})
	var h *host.HandshakeError
	if !errors.Is(err, host.ErrHandshake) || !errors.As(err, &h) {
		t.Fatalf("got %v, want a HandshakeError", err)
	}
	if want := `Loading the \x1b[31mweights\x1b[0m ...`; h.Line != want {
		t.Errorf("line %q, want %q", h.Line, want)
	}
}

func TestExitBeforeHandshakeShowsStderr(t *testing.T) {
	_, err := host.Launch(t.Context(), config(t, "exits"), host.Settings{})
	var h *host.HandshakeError
	if !errors.As(err, &h) {
		t.Fatalf("got %v, want a HandshakeError", err)
	}
	if h.Exit != "exit status 7" || len(h.Stderr) != 20 || h.Stderr[19] != "cause line 29" {
		t.Errorf("exit %q, stderr %q", h.Exit, h.Stderr)
	}
}

func TestStartTimesOut(t *testing.T) {
	for _, mode := range []string{"hangs", "no line end"} {
		cfg := config(t, mode)
		cfg.StartTimeout = 300 * time.Millisecond
		if _, err := host.Launch(t.Context(), cfg, host.Settings{}); !errors.Is(err, host.ErrHandshake) {
			t.Errorf("%s: got %v, want ErrHandshake", mode, err)
		}
	}
}

func TestStartIsCancelled(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := host.Launch(ctx, config(t, "hangs"), host.Settings{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
}

func TestMissingProgram(t *testing.T) {
	cfg := config(t, "echo")
	cfg.Command = []string{filepath.Join(t.TempDir(), "none")}
	if _, err := host.Launch(t.Context(), cfg, host.Settings{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want ErrNotExist", err)
	}
}

func TestConfigNamesEveryProblem(t *testing.T) {
	_, err := host.Launch(t.Context(), host.Config{Env: []string{"novalue"}, StopGrace: -1}, host.Settings{})
	if !errors.Is(err, host.ErrConfig) || strings.Count(err.Error(), "\n") != 2 {
		t.Errorf("got %v, want three problems", err)
	}
}

func TestLongSocketFolderIsRefused(t *testing.T) {
	cfg := config(t, "echo")
	cfg.SocketDir = filepath.Join(t.TempDir(), strings.Repeat("d", 90))
	if _, err := host.Launch(t.Context(), cfg, host.Settings{}); !errors.Is(err, host.ErrConfig) {
		t.Errorf("got %v, want ErrConfig", err)
	}
}

func TestEnvironmentIsAnAllowList(t *testing.T) {
	t.Setenv("SPADE_CANARY_SECRET", "canary-value")
	t.Setenv("SPADE_PASSED", "passed-value")
	cfg := config(t, "env")
	cfg.PassEnv = []string{"SPADE_PASSED"}
	_, err := host.Launch(t.Context(), cfg, host.Settings{})
	var h *host.HandshakeError
	if !errors.As(err, &h) {
		t.Fatalf("got %v", err)
	}
	if strings.Contains(h.Line, "CANARY") || !strings.Contains(h.Line, "SPADE_PASSED") {
		t.Errorf("the plugin got %q", h.Line)
	}
}

func TestDeathInMidBatch(t *testing.T) {
	p := launch(t, "dies")
	_, err := p.Train(t.Context(), 0, 1, plugintest.Batches(t, 2000, plugintest.AgentRows(4000)))
	var c *host.CrashError
	if !errors.Is(err, host.ErrCrashed) || !errors.As(err, &c) {
		t.Fatalf("got %v, want a CrashError", err)
	}
	if !strings.Contains(c.Exit, "killed") {
		t.Errorf("exit %q", c.Exit)
	}
	if _, err := p.Generate(t.Context(), policy.Agent, 0, plugintest.AgentPrompts(1)); !errors.Is(err, host.ErrCrashed) {
		t.Errorf("afterwards: got %v, want ErrCrashed", err)
	}
}

// A plugin that is out of reach has crashed, however long its process takes to end.
func TestHangingUpIsACrash(t *testing.T) {
	p := launch(t, "hangs up")
	if _, err := p.Generate(t.Context(), policy.Agent, 0, plugintest.AgentPrompts(1)); !errors.Is(err, host.ErrCrashed) {
		t.Errorf("got %v, want ErrCrashed", err)
	}
	select {
	case <-p.Exited():
	default:
		t.Error("it still runs")
	}
}

// A plugin may answer with the code that a broken connection has.
func TestUnavailableIsNoCrash(t *testing.T) {
	p := launch(t, "unavailable")
	if _, err := p.Generate(t.Context(), policy.Agent, 0, plugintest.AgentPrompts(1)); status.Code(err) != codes.Unavailable {
		t.Errorf("got %v, want Unavailable", err)
	}
	if h, err := p.Health(t.Context()); err != nil || !h.Ready {
		t.Errorf("afterwards: %+v, %v", h, err)
	}
}

func TestShortAnswers(t *testing.T) {
	p := launch(t, "short")
	if _, err := p.Generate(t.Context(), policy.Agent, 0, plugintest.AgentPrompts(3)); !errors.Is(err, host.ErrShortStream) {
		t.Errorf("got %v, want ErrShortStream", err)
	}
}

func TestTrainThatReadsNothing(t *testing.T) {
	p := launch(t, "forgets")
	rows := plugintest.AgentRows(1)
	rows[0].Messages[0].Content = strings.Repeat("x", 1<<20)
	many := slices.Repeat(rows, 100)
	if _, err := p.Train(t.Context(), 0, 1, plugintest.Batches(t, 0, many)); !errors.Is(err, host.ErrShortStream) {
		t.Errorf("got %v, want ErrShortStream", err)
	}
}

func TestRetryAfterCrossesTheWire(t *testing.T) {
	_, err := launch(t, "retry").Generate(t.Context(), policy.Agent, 0, plugintest.AgentPrompts(1))
	var r *plugins.RetryAfterError
	if !errors.Is(err, plugins.ErrRetryAfter) || !errors.As(err, &r) || r.After != 1500*time.Millisecond {
		t.Errorf("got %v", err)
	}
}

func TestPanicIsAPermanentError(t *testing.T) {
	p := launch(t, "panics")
	if _, err := p.Generate(t.Context(), policy.Agent, 0, plugintest.AgentPrompts(1)); !errors.Is(err, plugins.ErrPermanent) || !strings.Contains(err.Error(), "a bug of the plugin") {
		t.Errorf("got %v", err)
	}
	if h, err := p.Health(t.Context()); err != nil || !h.Ready {
		t.Errorf("afterwards: %+v, %v", h, err)
	}
}

func TestPrintsAfterHandshakeDoNoHarm(t *testing.T) {
	p := launch(t, "chatty")
	for range 5 {
		if _, err := p.Generate(t.Context(), policy.Agent, 0, plugintest.AgentPrompts(2)); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPluginThatWillNotStopIsEnded(t *testing.T) {
	cfg := config(t, "stays")
	cfg.StopGrace = 200 * time.Millisecond
	p, err := host.Launch(t.Context(), cfg, host.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := p.Shutdown(ctx); err == nil {
		t.Error("no error from a plugin that did not stop as asked")
	}
	<-p.Exited()
}

func TestPluginDiesWithItsHost(t *testing.T) {
	dir := socketDir(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), modeEnv+"=host", "SPADE_HOST_TEST_DIR="+dir)
	var out bytes.Buffer
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout = w
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_ = w.Close()
	buf := make([]byte, 32)
	n, err := r.Read(buf)
	if err != nil {
		t.Fatal(err, out.String())
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(buf[:n])))
	if err != nil {
		t.Fatal(err)
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	_ = r.Close()
	deadline := time.Now().Add(time.Minute)
	for alive(pid) {
		if time.Now().After(deadline) {
			t.Fatal("the plugin outlives its host")
		}
		time.Sleep(20 * time.Millisecond)
	}
	// The killed host left its socket folder; the next host removes it.
	cfg := config(t, "echo")
	cfg.SocketDir = dir
	p, err := host.Launch(t.Context(), cfg, host.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestPluginWithoutWatchDiesWithItsHost is about a plugin that does nothing for it: the kernel must.
func TestPluginWithoutWatchDiesWithItsHost(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux ends a child with its parent")
	}
	dir := socketDir(t)
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), modeEnv+"=host of one that hangs", "SPADE_HOST_TEST_DIR="+dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var pid int
	for deadline := time.Now().Add(20 * time.Second); pid == 0; time.Sleep(10 * time.Millisecond) {
		raw, _ := os.ReadFile(filepath.Join(dir, "pid"))
		pid, _ = strconv.Atoi(string(raw))
		if time.Now().After(deadline) {
			t.Fatal("the plugin did not start")
		}
	}
	_ = cmd.Process.Kill()
	_ = cmd.Wait()
	for deadline := time.Now().Add(time.Minute); alive(pid); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the plugin outlives its host")
		}
	}
}

func alive(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return syscall.Kill(pid, 0) == nil
	}
	_, rest, _ := strings.Cut(string(raw), ") ")
	return !strings.HasPrefix(rest, "Z")
}

func actAsHost(mode string) {
	p, err := host.Launch(context.Background(), host.Config{
		Command: []string{os.Args[0]}, Env: []string{modeEnv + "=" + mode}, PassEnv: []string{"SPADE_HOST_TEST_DIR"}, SocketDir: os.Getenv("SPADE_HOST_TEST_DIR"),
	}, host.Settings{})
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(host.Pid(p))
	time.Sleep(time.Hour)
}

func BenchmarkTrainTransfer(b *testing.B) {
	p := launch(b, "echo")
	rows := plugintest.AgentRows(64)
	for i := range rows {
		rows[i].Messages[0].Content = strings.Repeat("observation line\n", 16<<10)
	}
	batches := plugintest.Batches(b, 0, rows)
	b.SetBytes(int64(64 * 16 << 10 * 17))
	b.ResetTimer()
	for b.Loop() {
		if _, err := p.Train(context.Background(), 0, 1, batches); err != nil {
			b.Fatal(err)
		}
	}
}
