//go:build linux

package chaos

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"
)

// statement is a write that a process sent to ClickHouse.
type statement struct {
	who   string // the process
	text  string
	token string // of a block of rows; empty for the sink's bookkeeping
}

// answer is what the server said.
type answer struct {
	status int
	code   string // of its error
	header http.Header
	body   []byte
	err    error // no answer came
}

func (a answer) ok() bool { return a.err == nil && a.status == http.StatusOK && a.code == "" }

// trap takes the next write that it wants. do calls send to have the server execute it, and returns whether the process gets
// the answer; otherwise its connection is cut.
type trap struct {
	wants func(statement) bool
	do    func(s statement, send func() answer) (answer, bool)
}

// warehouseProxy forwards a process's statements to ClickHouse, and keeps a ledger of its writes.
type warehouseProxy struct {
	who    func() string
	to     *url.URL
	client *http.Transport
	ledger *ledger
	server *httptest.Server

	mu    sync.Mutex // guards the following
	traps []*trap
}

func newWarehouseProxy(t *testing.T, address string, who func() string, l *ledger) *warehouseProxy {
	t.Helper()
	to, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	p := &warehouseProxy{who: who, to: to, client: &http.Transport{MaxIdleConnsPerHost: 16}, ledger: l}
	p.server = httptest.NewServer(http.HandlerFunc(p.serve))
	t.Cleanup(func() {
		p.server.CloseClientConnections()
		p.server.Close()
		p.client.CloseIdleConnections()
	})
	return p
}

// addr is where the relay before it connects.
func (p *warehouseProxy) addr() string { return p.server.Listener.Addr().String() }

// set lays a trap; the returned function takes it away again, and reports whether it was still there.
func (p *warehouseProxy) set(tr *trap) (remove func() bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.traps = append(p.traps, tr)
	return func() bool { return p.spring(func(x *trap) bool { return x == tr }) != nil }
}

// spring takes the first trap that matches.
func (p *warehouseProxy) spring(match func(*trap) bool) *trap {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, tr := range p.traps {
		if match(tr) {
			p.traps = append(p.traps[:i:i], p.traps[i+1:]...)
			return tr
		}
	}
	return nil
}

func (p *warehouseProxy) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		panic(http.ErrAbortHandler) // the process is gone
	}
	s := statement{who: p.who(), text: r.URL.Query().Get("query")}
	if s.text == "" {
		s.text = string(body)
	}
	send := func(ctx context.Context) answer { return p.send(ctx, r, body) }
	if !strings.HasPrefix(s.text, "INSERT INTO spade") {
		deliver(w, send(r.Context()), true)
		return
	}
	if m := tokenIn.FindStringSubmatch(s.text); m != nil {
		s.token = m[1]
	}
	// What has reached the server is executed, whatever becomes of the process.
	once := func() answer { return send(context.WithoutCancel(r.Context())) }
	a, pass := answer{}, true
	if tr := p.spring(func(tr *trap) bool { return tr.wants(s) }); tr != nil {
		a, pass = tr.do(s, once)
	} else {
		a = once()
	}
	p.ledger.add(a)
	deliver(w, a, pass)
}

var tokenIn = regexp.MustCompile(`insert_deduplication_token = '([^']*)'`)

// sendTimeout is above what a statement of these tests takes on any machine.
const sendTimeout = time.Minute

func (p *warehouseProxy) send(ctx context.Context, r *http.Request, body []byte) answer {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	out := r.Clone(ctx)
	out.RequestURI = ""
	out.URL.Scheme, out.URL.Host, out.Host = p.to.Scheme, p.to.Host, p.to.Host
	out.Body, out.ContentLength, out.TransferEncoding = io.NopCloser(bytes.NewReader(body)), int64(len(body)), nil
	res, err := p.client.RoundTrip(out)
	if err != nil {
		return answer{err: err}
	}
	defer res.Body.Close()
	got, err := io.ReadAll(res.Body)
	return answer{
		status: res.StatusCode, code: res.Header.Get("X-ClickHouse-Exception-Code"), header: res.Header, body: got, err: err,
	}
}

// deliver answers the process, or cuts its connection.
func deliver(w http.ResponseWriter, a answer, pass bool) {
	if !pass || a.err != nil {
		panic(http.ErrAbortHandler)
	}
	for name, values := range a.header {
		if name != "Content-Length" && name != "Transfer-Encoding" {
			w.Header()[name] = values
		}
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a process that is gone gets nothing
}

// ledger is what became of writes that went through proxies.
type ledger struct {
	mu     sync.Mutex // guards the following
	lost   int        // blocks that the server took and whose writer, which lived on, did not hear of it
	fenced int        // writes that the server refused because another writer held the partition
}

// throwIf is the error code that a fenced write is refused with.
const throwIf = "395"

func (l *ledger) add(a answer) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if a.code == throwIf {
		l.fenced++
	}
}

func (l *ledger) lose() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost++
}

func (l *ledger) look() (lost, fenced int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost, l.fenced
}

// diskFull is the server's answer when it has no room.
func diskFull() answer {
	return answer{
		status: http.StatusInternalServerError, code: "243",
		header: http.Header{"X-Clickhouse-Exception-Code": {"243"}},
		body:   []byte("Code: 243. DB::Exception: Cannot reserve 1.00 MiB, not enough space. (NOT_ENOUGH_SPACE)\n"),
	}
}
