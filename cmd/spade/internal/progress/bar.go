package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

// Bar shows one task that counts something: documents, bytes. Its methods are safe for concurrent use.
type Bar struct {
	set   Settings
	what  string
	unit  func(int64) string
	live  *Live
	began time.Time

	mu    sync.Mutex // guards the following
	shown time.Time  // when it was drawn last
	tenth int64      // of the total that the last line in a pipe told
	done  int64
	total int64
}

// NewBar begins a bar for a task. Close must be called.
func NewBar(set Settings, what string, unit func(int64) string) *Bar {
	set = set.withDefaults()
	b := &Bar{set: set, what: screen.Escape(what), unit: unit, began: set.Now()}
	if set.Terminal {
		b.live = NewLive(set.Out, set.Size)
	}
	return b
}

// Set says how much is done, of how much in all; a total of 0 is not known yet. On a terminal it redraws when a frame is
// due; in a pipe it prints a line at every tenth of the total.
func (b *Bar) Set(done, total int64) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.done, b.total = done, total
	now := b.set.Now()
	if b.live == nil {
		return b.print()
	}
	if now.Sub(b.shown) < b.set.Interval && (total == 0 || done < total) {
		return nil
	}
	b.shown = now
	return b.live.Draw([]string{b.line()})
}

func (b *Bar) print() error {
	if b.total <= 0 || b.done*10/b.total <= b.tenth {
		return nil
	}
	b.tenth = b.done * 10 / b.total
	_, err := fmt.Fprintf(b.set.Out, "%s: %s of %s (%d%%)\n", b.what, b.unit(b.done), b.unit(b.total), b.done*100/b.total)
	return err
}

func (b *Bar) line() string {
	columns, _ := b.set.Size()
	elapsed := b.set.Now().Sub(b.began)
	figures := b.unit(b.done)
	if b.total > 0 {
		figures += " of " + b.unit(b.total)
	}
	if rate := float64(b.done) / elapsed.Seconds(); elapsed > time.Second && rate >= 1 {
		figures += "  " + b.unit(int64(rate)) + "/s"
	}
	if b.total <= 0 {
		return fmt.Sprintf("%s  %s", b.what, figures)
	}
	share := float64(b.done) / float64(b.total)
	label := fmt.Sprintf(" %3.0f%%  %s", 100*share, figures)
	name := screen.Fit(b.what, max(8, columns/3))
	width := min(40, columns-1-screen.Width(name)-screen.Width(label)-3)
	if width < 5 {
		return name + " " + label
	}
	return name + " ▕" + b.set.Style.Accent(bar(share, width)) + "▏" + label
}

// Close ends the bar; what it showed last stays.
func (b *Bar) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.live == nil {
		return nil
	}
	if b.shown.IsZero() {
		return b.live.Close(false)
	}
	if err := b.live.Draw([]string{b.line()}); err != nil {
		return err
	}
	return b.live.Close(true)
}

// Logs is where lines of a log go while the bar is shown: above it on a terminal, else to w.
func (b *Bar) Logs(w io.Writer) io.Writer {
	if b.live == nil {
		return w
	}
	return b.live
}

// Items writes a count of things.
func Items(n int64) string { return count(n) }

// Bytes writes a size.
func Bytes(n int64) string {
	units := []string{"B", "kB", "MB", "GB", "TB"}
	x, u := float64(n), 0
	for x >= 999.95 && u < len(units)-1 {
		x, u = x/1000, u+1
	}
	if u == 0 {
		return fmt.Sprintf("%d B", n)
	}
	return fmt.Sprintf("%.1f %s", x, units[u])
}
