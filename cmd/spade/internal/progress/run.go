package progress

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

// Settings is what a view needs beside the figures.
type Settings struct {
	Out      io.Writer
	Terminal bool                       // draw a live picture; else print lines
	Size     func() (columns, rows int) // of the terminal; nil = that of Out
	Style    screen.Style               // colours of the live picture
	Now      func() time.Time           // nil = time.Now
	Interval time.Duration              // between frames; 0 = 100 ms
}

func (s Settings) withDefaults() Settings {
	if s.Size == nil {
		out := s.Out
		s.Size = func() (int, int) { return screen.Size(out) }
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	if s.Interval <= 0 {
		s.Interval = 100 * time.Millisecond
	}
	return s
}

// Run shows a run. Its methods are safe for concurrent use.
type Run struct {
	set   Settings
	live  *Live
	began time.Time
	stop  chan struct{}
	done  sync.WaitGroup

	mu      sync.Mutex // guards the following
	state   State
	first   State // when the run's own work began: rates are of this process
	printed int   // closed iterations that have a line
	closed  bool
}

// NewRun begins a view. Close must be called.
func NewRun(set Settings) *Run {
	set = set.withDefaults()
	r := &Run{set: set, began: set.Now(), stop: make(chan struct{})}
	if set.Terminal {
		r.live = NewLive(set.Out, set.Size)
		r.done.Go(r.redraw)
	}
	return r
}

// redraw draws the newest state until the view is closed.
func (r *Run) redraw() {
	tick := time.NewTicker(r.set.Interval)
	defer tick.Stop()
	for {
		select {
		case <-r.stop:
			return
		case <-tick.C:
			_ = r.live.Draw(r.Lines()) // a terminal that is gone shows nothing, which is no reason to stop the run
		}
	}
}

// Update takes the newest figures. In a pipe, each iteration that has closed since prints a line.
func (r *Run) Update(s State) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.first.Name == "" {
		r.first = s
		r.printed = s.Closed
	}
	phase := s.Phase != r.state.Phase
	r.state = s
	if r.live != nil || r.closed {
		return nil
	}
	if phase && s.Phase != "" {
		if _, err := fmt.Fprintln(r.set.Out, screen.Escape(s.Phase)); err != nil {
			return err
		}
	}
	return r.printClosed(s)
}

// printClosed prints a line for each iteration that has none. The lock is held.
func (r *Run) printClosed(s State) error {
	for _, it := range s.History {
		if it.Iteration < r.printed {
			continue
		}
		r.printed = it.Iteration + 1
		if _, err := fmt.Fprintln(r.set.Out, line(s, it, r.eta(s))); err != nil {
			return err
		}
	}
	return nil
}

func line(s State, it Iteration, eta string) string {
	took := ""
	if it.Took > 0 {
		took = " in " + it.Took.Round(10*time.Millisecond).String()
	}
	designs := fmt.Sprintf("designed %d, accepted %d, rejected %d", it.Designed, it.Accepted, it.Rejected)
	if s.Drawn {
		designs = fmt.Sprintf("drawn %d", it.Designed)
	}
	return fmt.Sprintf("iteration %d/%d: %s; plain %.3f, hinted %s, regret %s; "+
		"%s rollouts, %s steps%s%s", it.Iteration+1, s.Iterations, designs,
		it.Plain, it.hinted(), it.regret(), count(int64(it.Rollouts)), count(it.Steps), took, eta)
}

func (r *Run) eta(s State) string {
	left, known := r.left(s)
	if !known || s.Closed >= s.Iterations {
		return ""
	}
	return ", " + clock(left) + " left"
}

// left is how long the rest takes at the pace of this process so far.
func (r *Run) left(s State) (time.Duration, bool) {
	done := s.share() - ratio(s.Began, s.Iterations)
	elapsed := r.set.Now().Sub(r.began)
	if done <= 0.001 || elapsed < time.Second {
		return 0, false
	}
	return time.Duration(float64(elapsed) / done * (1 - s.share())), true
}

// Logs is where log lines can go without disturbing the picture; direct is where they go when there is none.
func (r *Run) Logs(direct io.Writer) io.Writer {
	if r.live != nil {
		return r.live
	}
	return direct
}

// Close ends the view; a live picture stays as it last was.
func (r *Run) Close() error {
	r.mu.Lock()
	if r.closed {
		r.mu.Unlock()
		return nil
	}
	r.closed = true
	r.mu.Unlock()
	close(r.stop)
	r.done.Wait()
	if r.live == nil {
		return nil
	}
	if err := r.live.Draw(r.Lines()); err != nil {
		return err
	}
	return r.live.Close(true)
}

// Lines is the live picture.
func (r *Run) Lines() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	columns, _ := r.set.Size()
	elapsed := r.set.Now().Sub(r.began)
	lines := []string{r.title(columns, elapsed), r.barLine(columns)}
	lines = append(lines, r.counts(columns, elapsed)...)
	return append(lines, r.rewards(columns)...)
}

func (r *Run) title(columns int, elapsed time.Duration) string {
	s := r.state
	name := s.Name
	if name == "" {
		name = "spade"
	}
	right := clock(elapsed)
	if left, known := r.left(s); known && s.Closed < s.Iterations {
		right += "  " + clock(left) + " left"
	}
	phase := ""
	if s.Phase != "" {
		phase = "  " + screen.Escape(strings.TrimSpace(s.Phase+" "+s.Note))
	}
	left := screen.Fit(screen.Escape(name), max(8, columns-len(right)-screen.Width(phase)-2))
	gap := max(1, columns-1-screen.Width(left)-screen.Width(phase)-len(right))
	return r.set.Style.Bold(left) + r.set.Style.Dim(phase) + strings.Repeat(" ", gap) + right
}

func (r *Run) barLine(columns int) string {
	s := r.state
	label := fmt.Sprintf("  %d/%d iterations %3.0f%%", s.Closed, s.Iterations, 100*s.share())
	width := max(5, min(60, columns-1-screen.Width(label)-2))
	return "▕" + r.set.Style.Accent(bar(s.share(), width)) + "▏" + label
}

// counts is one line, or two where the terminal is narrow.
func (r *Run) counts(columns int, elapsed time.Duration) []string {
	s := r.state
	designs := fmt.Sprintf("  designed %s  accepted %s  rejected %s",
		count(int64(s.Designed)), r.set.Style.Good(count(int64(s.Accepted))), r.set.Style.Warn(count(int64(s.Rejected))))
	if s.Drawn {
		designs = "  drawn " + count(int64(s.Designed))
	}
	episodes := fmt.Sprintf("  rollouts %s %s   steps %s",
		count(int64(s.Rollouts)), r.set.Style.Dim(perSecond(int64(s.Rollouts-r.first.Rollouts), elapsed)),
		perSecond(s.Steps-r.first.Steps, elapsed))
	if screen.Width(plain(designs+episodes)) >= columns {
		return []string{designs, episodes}
	}
	return []string{designs + " " + episodes[1:]}
}

// rewards shows the newest figures and how they moved.
func (r *Run) rewards(columns int) []string {
	last, ok := r.state.Last()
	if !ok {
		return []string{r.set.Style.Dim("  waiting for the first iteration to close")}
	}
	pick := func(f func(Iteration) float64) []float64 {
		values := make([]float64, len(r.state.History))
		for i, it := range r.state.History {
			values[i] = f(it)
		}
		return values
	}
	row := func(name, figure string, values []float64) string {
		return fmt.Sprintf("  %-7s %s  %s", name, figure, r.set.Style.Accent(spark(values, min(60, columns-22))))
	}
	return []string{
		row("plain", fmt.Sprintf(" %.3f", last.Plain), pick(func(it Iteration) float64 { return it.Plain })),
		row("hinted", " "+last.hinted(), pick(func(it Iteration) float64 { return it.Hinted })),
		row("regret", last.regret(), pick(func(it Iteration) float64 { return it.Regret })),
	}
}
