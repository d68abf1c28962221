package chdblib

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"time"
)

// bar reports how much of the package has been unpacked. npm reports nothing when it is not on a terminal.
type bar struct {
	out   io.Writer
	dir   string
	total int64
	tty   bool
	done  chan struct{}
	wg    sync.WaitGroup
	next  int // percent at which a line is due, away from a terminal
}

func watch(out io.Writer, dir string, p pkg) *bar {
	b := &bar{out: out, dir: dir, total: p.unpacked, tty: isTerminal(out), done: make(chan struct{}), next: 25}
	_, _ = fmt.Fprintf(out, "fetching the ClickHouse engine: %s %s, about 180 MB to fetch, %d MB unpacked, once\n", p.name, Version, p.unpacked>>20)
	b.wg.Go(b.loop)
	return b
}

func (b *bar) loop() {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-b.done:
			return
		case <-tick.C:
			b.print(size(b.dir))
		}
	}
}

func (b *bar) print(n int64) {
	percent := int(min(n*100/b.total, 100))
	if b.tty {
		_, _ = fmt.Fprintf(b.out, "\r  %3d%%  %d of %d MB ", percent, n>>20, b.total>>20)
		return
	}
	if percent >= b.next {
		_, _ = fmt.Fprintf(b.out, "  %d of %d MB\n", n>>20, b.total>>20)
		b.next = percent - percent%25 + 25
	}
}

// stop ends the reporting, with a last line when the install went well.
func (b *bar) stop(ok bool) {
	close(b.done)
	b.wg.Wait()
	if b.tty {
		_, _ = fmt.Fprint(b.out, "\r\x1b[K")
	}
	if ok {
		_, _ = fmt.Fprintln(b.out, "fetched the ClickHouse engine")
	}
}

func size(dir string) (n int64) {
	_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error { // files come and go while npm works
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0
}
