//go:build linux

package chaos

import (
	"bufio"
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// told is what processes told of themselves by their metrics before they ended.
type told struct {
	cancel context.CancelFunc
	wg     sync.WaitGroup

	mu     sync.Mutex                    // guards the following
	values map[string]map[string]float64 // by process and metric
}

// scrapeInterval is how old the last figures of a process that is killed may be.
const scrapeInterval = 300 * time.Millisecond

// listen reads the metrics of the slots that have an address for them, until stop.
func listen(slots []*slot) *told {
	ctx, cancel := context.WithCancel(context.Background())
	l := &told{cancel: cancel, values: map[string]map[string]float64{}}
	for _, s := range slots {
		if s.metrics != "" {
			l.wg.Go(func() { l.follow(ctx, s) })
		}
	}
	return l
}

func (l *told) stop() {
	l.cancel()
	l.wg.Wait()
}

func (l *told) follow(ctx context.Context, s *slot) {
	for ctx.Err() == nil {
		who := s.who()
		if got := scrape(ctx, s.metrics); got != nil && who == s.who() {
			l.mu.Lock()
			l.values[who] = got
			l.mu.Unlock()
		}
		select {
		case <-ctx.Done():
		case <-time.After(scrapeInterval):
		}
	}
}

// scrape reads the metrics of a process, summed over their labels; nil when it does not answer.
func scrape(ctx context.Context, addr string) map[string]float64 {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/metrics", nil)
	if err != nil {
		return nil
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil
	}
	defer res.Body.Close()
	out := map[string]float64{}
	for scan := bufio.NewScanner(res.Body); scan.Scan(); {
		name, rest, _ := strings.Cut(scan.Text(), " ")
		if i := strings.LastIndex(scan.Text(), "} "); i >= 0 {
			name, rest = strings.SplitN(scan.Text(), "{", 2)[0], scan.Text()[i+2:]
		}
		if v, err := strconv.ParseFloat(rest, 64); err == nil {
			out[name] += v
		}
	}
	return out
}

// total sums a metric over all processes there were.
func (l *told) total(metric string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, values := range l.values {
		n += int(values[metric])
	}
	return n
}

// freeAddr is a loopback address that nobody listens on.
func freeAddr(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	return ln.Addr().String()
}
