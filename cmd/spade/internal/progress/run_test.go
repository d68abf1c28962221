package progress

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs:\n%s\nwant:\n%s", name, got, want)
	}
}

func midway() State {
	s := State{
		Name: "first try", Phase: "iteration 3", Iterations: 20, Closed: 2, Policy: 2,
		Designed: 20, Accepted: 15, Rejected: 3, Rollouts: 480, Steps: 12_345,
		Slots: 8, SlotsDone: 4, Expected: 64, ExpectedDone: 32,
	}
	for i := range 2 {
		s.History = append(s.History, Iteration{
			Iteration: i, Designed: 8, Accepted: 7, Rejected: 1, Rollouts: 224, Steps: 5_000,
			Plain: 0.1 + 0.1*float64(i), Hinted: 0.6, Regret: 0.5 - 0.1*float64(i), Took: 1500 * time.Millisecond,
		})
	}
	return s
}

// TestAFigureThatThereIsNotIsNotZero: a run without a hinted arm, and one with too few hinted episodes for a regret.
func TestAFigureThatThereIsNotIsNotZero(t *testing.T) {
	for want, it := range map[string]Iteration{
		"hinted none, regret none;":    {NoHinted: true, NoRegret: true},
		"hinted 1.000, regret none;":   {Hinted: 1, NoRegret: true},
		"hinted 0.000, regret +0.000;": {},
	} {
		if got := line(State{Iterations: 1}, it, ""); !strings.Contains(got, want) {
			t.Errorf("%q does not hold %q", got, want)
		}
	}
}

// TestWhatIsDrawnWasNotDesigned: a run on a fixed pool, in a pipe and live.
func TestWhatIsDrawnWasNotDesigned(t *testing.T) {
	s := midway()
	s.Drawn = true
	r := NewRun(Settings{Out: &bytes.Buffer{}, Size: func() (int, int) { return 100, 24 }})
	if err := r.Update(s); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]string{line(s, s.History[0], ""): ": drawn 8; plain", strings.Join(r.Lines(), "\n"): "  drawn 20  rollouts"} {
		if !strings.Contains(text, want) || strings.Contains(text, "designed") || strings.Contains(text, "accepted") {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
}

// stopwatch is a clock that the test moves.
type stopwatch struct{ now time.Time }

func (s *stopwatch) read() time.Time { return s.now }

func TestPicture(t *testing.T) {
	for name, columns := range map[string]int{"wide.golden": 100, "narrow.golden": 48} {
		clock := &stopwatch{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		set := Settings{Out: &bytes.Buffer{}, Now: clock.read, Size: func() (int, int) { return columns, 24 }}
		r := NewRun(set)
		if err := r.Update(State{Name: "first try", Iterations: 20}); err != nil {
			t.Fatal(err)
		}
		clock.now = clock.now.Add(10 * time.Second)
		if err := r.Update(midway()); err != nil {
			t.Fatal(err)
		}
		lines := r.Lines()
		for i, line := range lines {
			lines[i] = fit(line, columns-1)
		}
		golden(t, name, strings.Join(lines, "\n")+"\n")
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPipeGetsPlainLines(t *testing.T) {
	var out bytes.Buffer
	clock := &stopwatch{time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	r := NewRun(Settings{Out: &out, Now: clock.read})
	s := midway()
	for _, closed := range []int{0, 1, 2, 2} {
		clock.now = clock.now.Add(5 * time.Second)
		now := s
		now.Closed, now.History = closed, s.History[:closed]
		now.Phase = "running"
		if err := r.Update(now); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	golden(t, "pipe.golden", out.String())
	if strings.Contains(out.String(), "\x1b") {
		t.Error("control sequences in a pipe")
	}
}

func TestHostileNamesAreEscaped(t *testing.T) {
	r := NewRun(Settings{Out: &bytes.Buffer{}})
	if err := r.Update(State{Name: "\x1b]0;owned\a", Phase: "\x1b[2J", Iterations: 1}); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(r.Lines(), "\n"); strings.Contains(text, "\x1b") {
		t.Errorf("%q", text)
	}
}

func TestLiveRunOnATerminal(t *testing.T) {
	e := newEmulator(t, 80, 24)
	r := NewRun(Settings{Out: e, Terminal: true, Size: e.size, Interval: time.Millisecond, Style: screen.Style{Colour: true}})
	if err := r.Update(midway()); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Logs(nil).Write([]byte("a log line\n")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if got := e.String(); !strings.HasPrefix(got, "a log line\nfirst try") {
		t.Errorf("screen:\n%s", got)
	}
}

func TestBar(t *testing.T) {
	var out bytes.Buffer
	b := NewBar(Settings{Out: &out}, "documents\x1b", Items)
	for i := range int64(101) {
		if err := b.Set(i, 100); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(out.String(), "\n"); got != 10 {
		t.Errorf("%d lines:\n%s", got, out.String())
	}
	if !strings.Contains(out.String(), `documents\x1b: 100 of 100 (100%)`) {
		t.Error(out.String())
	}
	e := newEmulator(t, 70, 24)
	live := NewBar(Settings{Out: e, Terminal: true, Size: e.size}, "libchdb", Bytes)
	for _, done := range []int64{0, 50_000_000, 178_000_000} {
		if err := live.Set(done, 178_000_000); err != nil {
			t.Fatal(err)
		}
	}
	if err := live.Close(); err != nil {
		t.Fatal(err)
	}
	if got := e.String(); !strings.Contains(got, "100%  178.0 MB of 178.0 MB") || strings.Contains(got, "\n") {
		t.Errorf("screen:\n%s", got)
	}
}

func TestFigures(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{bar(0, 4), "    "},
		{bar(0.5, 4), "██  "},
		{bar(1, 4), "████"},
		{bar(2, 4), "████"},
		{bar(1.0/32, 4), "▏   "},
		{bar(1, 0), ""},
		{spark([]float64{0, 1, 0.5}, 8), "▁█▅"},
		{spark([]float64{3, 3}, 8), "▁▁"},
		{spark([]float64{9, 0, 1}, 2), "▁█"},
		{spark(nil, 3), ""},
		{clock(59600 * time.Millisecond), "1:00"},
		{clock(3661 * time.Second), "1:01:01"},
		{clock(-1), "0:00"},
		{count(0), "0"},
		{count(999), "999"},
		{count(1234567), "1,234,567"},
		{count(-1000), "-1,000"},
		{Bytes(5), "5 B"},
		{Bytes(178_123_456), "178.1 MB"},
		{Bytes(999_999), "1.0 MB"},
		{perSecond(10, 0), "0/s"},
		{perSecond(1, 2*time.Second), "0.5/s"},
		{perSecond(4000, 2*time.Second), "2,000/s"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}
