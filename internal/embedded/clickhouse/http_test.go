package clickhouse_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/pierrec/lz4/v4"

	embedded "github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
)

// client speaks plain HTTP to a server.
type client struct {
	t              *testing.T
	base           string
	user, password string
	http           *http.Client
}

func newClient(t *testing.T, s *embedded.Server) client {
	transport := &http.Transport{DisableCompression: true}
	t.Cleanup(transport.CloseIdleConnections)
	return client{t: t, base: s.URL(), user: clickhousetest.User, password: clickhousetest.Password, http: &http.Client{Transport: transport}}
}

func (c client) reader() client {
	c.user, c.password = embedded.Reader, clickhousetest.ReaderPassword
	return c
}

type reply struct {
	status int
	header http.Header
	body   string
}

// do sends a request; change alters it before.
func (c client) do(method string, query url.Values, body io.Reader, change func(*http.Request)) reply {
	c.t.Helper()
	req, err := http.NewRequestWithContext(c.t.Context(), method, c.base+"/?"+query.Encode(), body)
	if err != nil {
		c.t.Fatal(err)
	}
	req.SetBasicAuth(c.user, c.password)
	if change != nil {
		change(req)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		c.t.Fatal(err)
	}
	defer resp.Body.Close() //nolint:errcheck // read to its end
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		text = append(text, "\nREAD: "+err.Error()...)
	}
	return reply{resp.StatusCode, resp.Header, string(text)}
}

// post runs a statement sent as the body.
func (c client) post(sql string, settings ...string) reply {
	c.t.Helper()
	return c.do(http.MethodPost, values(settings...), strings.NewReader(sql), nil)
}

// must runs a statement and returns its output.
func (c client) must(sql string, settings ...string) string {
	c.t.Helper()
	r := c.post(sql, settings...)
	if r.status != http.StatusOK {
		c.t.Fatalf("%s: %d %s", sql, r.status, r.body)
	}
	return strings.TrimSuffix(r.body, "\n")
}

// refused checks that a statement fails with the given code.
func (c client) refused(code, sql string, settings ...string) {
	c.t.Helper()
	r := c.post(sql, settings...)
	if got := r.header.Get("X-ClickHouse-Exception-Code"); r.status == http.StatusOK || got != code {
		c.t.Errorf("%s: status %d, code %q, want code %s: %s", sql, r.status, got, code, r.body)
	}
}

func values(pairs ...string) url.Values {
	v := url.Values{}
	for i := 0; i+1 < len(pairs); i += 2 {
		v.Set(pairs[i], pairs[i+1])
	}
	return v
}

func TestHTTPInterface(t *testing.T) {
	s := clickhousetest.Start(t)
	c := newClient(t, s)

	t.Run("queries", func(t *testing.T) {
		c := c
		c.t = t
		if got := c.must("SELECT 1, 'a'"); got != "1\ta" {
			t.Errorf("got %q", got)
		}
		if got := c.must("SELECT currentDatabase()"); got != "spade" {
			t.Errorf("database %q", got)
		}
		if got := c.must("SELECT currentDatabase()", "database", "system"); got != "system" {
			t.Errorf("database %q", got)
		}
		if got := c.must("SELECT 1 AS a FORMAT JSONEachRow", "default_format", "CSV"); got != `{"a":1}` {
			t.Errorf("got %q", got)
		}
		if got := c.must("SELECT 1 AS a", "default_format", "CSVWithNames"); got != "\"a\"\n1" {
			t.Errorf("got %q", got)
		}
		if got := c.must("SHOW DATABASES LIKE 'spade'"); got != "spade" {
			t.Errorf("got %q", got)
		}
		if got := c.must("SELECT timezone()"); got != "UTC" {
			t.Errorf("time zone %q", got)
		}
		if got := c.must("SELECT {n:Int32} + 1, {s:String}", "param_n", "41", "param_s", `it's a\ttab`); got != "42\tit\\'s a\\ttab" {
			t.Errorf("got %q", got)
		}
		if got := c.must("", "query", "SELECT 5"); got != "5" {
			t.Errorf("a query of the URL: %q", got)
		}
		if r := c.do(http.MethodGet, values("query", "SELECT 6"), nil, nil); r.body != "6\n" {
			t.Errorf("GET: %+v", r)
		}
		if got := c.must("1, 2", "query", "SELECT"); got != "1\t2" {
			t.Errorf("a query in two parts: %q", got)
		}
	})

	t.Run("headers", func(t *testing.T) {
		c := c
		c.t = t
		r := c.post("SELECT number FROM numbers(10) FORMAT JSON", "query_id", "my id")
		var sum map[string]string
		if err := json.Unmarshal([]byte(r.header.Get("X-ClickHouse-Summary")), &sum); err != nil || sum["read_rows"] != "10" {
			t.Errorf("summary %q: %v", r.header.Get("X-ClickHouse-Summary"), err)
		}
		for name, want := range map[string]string{
			"X-ClickHouse-Query-Id": "my id", "X-ClickHouse-Format": "JSON", "Content-Type": "application/json; charset=UTF-8",
			"X-ClickHouse-Timezone": "UTC", "Access-Control-Allow-Origin": "",
		} {
			if got := r.header.Get(name); got != want {
				t.Errorf("%s: %q, want %q", name, got, want)
			}
		}
	})

	t.Run("errors", func(t *testing.T) {
		c := c
		c.t = t
		c.refused("60", "SELECT * FROM nowhere")
		c.refused("62", "SELECT 1 FROM (")
		c.refused("62", "SELECT 1; SELECT 2")
		c.refused("62", " -- nothing")
		c.refused("115", "SELECT 1", "no_such_setting", "1")
		c.refused("115", "SELECT 1", "No-Setting", "1")
		c.refused("48", "SELECT 1", "session_id", "x")
		c.refused("48", "SELECT 1", "compress", "1", "network_compression_method", "T64")
		if r := c.post("SELECT 1 FROM ("); strings.Contains(r.body, "OUTFILE '") {
			t.Errorf("a syntax error shows what was added: %s", r.body)
		}
		r := c.do(http.MethodGet, values("query", "CREATE TABLE x (a Int8) ENGINE = Memory"), nil, nil)
		if r.header.Get("X-ClickHouse-Exception-Code") != "164" {
			t.Errorf("GET wrote: %+v", r)
		}
	})

	t.Run("settings", func(t *testing.T) {
		c := c
		c.t = t
		if got := c.must("SELECT 1/3 AS a FORMAT JSONEachRow", "output_format_json_quote_64bit_floats", "1"); got != `{"a":"0.3333333333333333"}` {
			t.Errorf("got %s", got)
		}
		c.must("SELECT 1", "wait_end_of_query", "1", "send_progress_in_http_headers", "1", "buffer_size", "1", "session_id", "")
	})

	t.Run("large answers stream", func(t *testing.T) {
		c := c
		c.t = t
		for _, wait := range []string{"0", "1"} {
			r := c.post("SELECT number FROM numbers(3000000) FORMAT TSV", "wait_end_of_query", wait)
			if n := strings.Count(r.body, "\n"); r.status != 200 || n != 3000000 || !strings.HasSuffix(r.body, "\n2999999\n") {
				t.Errorf("wait=%s: %d lines, status %d", wait, n, r.status)
			}
		}
		const failing = "SELECT throwIf(number = 2000000) FROM numbers(3000000) FORMAT TSV"
		r := c.post(failing)
		tag := r.header.Get("X-ClickHouse-Exception-Tag")
		if r.status != 200 || !strings.Contains(r.body, "\r\n__exception__\r\n"+tag+"\r\nCode: 395.") || !strings.Contains(r.body, "READ: unexpected EOF") {
			t.Errorf("an error within an answer: status %d, end %q", r.status, r.body[max(0, len(r.body)-600):])
		}
		c.refused("395", failing, "wait_end_of_query", "1")
	})

	t.Run("compression", func(t *testing.T) {
		c := c
		c.t = t
		r := c.do(http.MethodPost, values("enable_http_compression", "1"), strings.NewReader("SELECT 1"), func(r *http.Request) { r.Header.Set("Accept-Encoding", "br;q=0, gzip") })
		z, err := gzip.NewReader(strings.NewReader(r.body))
		if err != nil {
			t.Fatalf("%v: %+v", err, r)
		}
		if text, err := io.ReadAll(z); err != nil || string(text) != "1\n" || r.header.Get("Content-Encoding") != "gzip" {
			t.Errorf("%q, %v", text, err)
		}
		for _, method := range []string{"LZ4", "ZSTD", ""} {
			r = c.post("SELECT number FROM numbers(200000)", "compress", "1", "network_compression_method", method)
			if text, err := io.ReadAll(compress.NewReader(strings.NewReader(r.body))); !errors.Is(err, io.EOF) || strings.Count(string(text), "\n") != 200000 {
				t.Errorf("%s: %d bytes, %v", method, len(text), err)
			}
		}
		c.must("CREATE TABLE zipped (a String) ENGINE = MergeTree ORDER BY a")
		var body bytes.Buffer
		w := gzip.NewWriter(&body)
		_, _ = w.Write([]byte("x\ny\n"))
		_ = w.Close()
		r = c.do(http.MethodPost, values("query", "INSERT INTO zipped FORMAT CSV"), &body, func(r *http.Request) { r.Header.Set("Content-Encoding", "gzip") })
		if r.status != 200 || c.must("SELECT count() FROM zipped") != "2" {
			t.Errorf("a compressed insert: %+v", r)
		}
		body.Reset()
		lw := lz4.NewWriter(&body)
		_, _ = lw.Write([]byte("w\n"))
		_ = lw.Close()
		r = c.do(http.MethodPost, values("query", "INSERT INTO zipped FORMAT CSV"), &body, func(r *http.Request) { r.Header.Set("Content-Encoding", "lz4") })
		if r.status != 200 || c.must("SELECT count() FROM zipped WHERE a = 'w'") != "1" {
			t.Errorf("an LZ4 insert: %+v", r)
		}
		c.must("TRUNCATE TABLE zipped")
		c.must("INSERT INTO zipped VALUES ('x'), ('y')")
		bw := compress.NewWriter(0, compress.LZ4)
		if err := bw.Compress([]byte("z\n")); err != nil {
			t.Fatal(err)
		}
		r = c.do(http.MethodPost, values("query", "INSERT INTO zipped FORMAT CSV", "decompress", "1"), bytes.NewReader(bw.Data), nil)
		if r.status != 200 || c.must("SELECT count() FROM zipped") != "3" {
			t.Errorf("a block-compressed insert: %+v", r)
		}
		if r = c.do(http.MethodPost, nil, strings.NewReader("x"), func(r *http.Request) { r.Header.Set("Content-Encoding", "lzma") }); r.header.Get("X-ClickHouse-Exception-Code") != "48" {
			t.Errorf("an unknown encoding: %+v", r)
		}
	})

	t.Run("inserts", func(t *testing.T) {
		c := c
		c.t = t
		c.must("CREATE TABLE ins (a Int64, b String) ENGINE = MergeTree ORDER BY a")
		for _, insert := range []struct{ sql, query string }{
			{"INSERT INTO ins VALUES (1, 'one;\n\n'), (2, 'FORMAT CSV');\n", ""},
			{"INSERT INTO ins (b, a) VALUES ('x', 1 + 2)", ""},
			{"INSERT INTO ins FORMAT CSV\n4,four\n5,\"fi\n\nve\"\n", ""},
			{`{"a": 6, "b": "six"}`, "INSERT INTO ins FORMAT JSONEachRow"},
			{"7\tseven", "INSERT INTO ins (a, b) SETTINGS async_insert = 0 FORMAT TSV"},
			{"INSERT INTO ins SELECT 8, 'eight'", ""},
			{"", "INSERT INTO ins VALUES (9, 'nine')"},
			{"(10, 'ten')", "INSERT INTO ins VALUES"},
			{"INSERT INTO ins SELECT {a:Int64}, 'eleven'", ""},
			{"INSERT INTO ins VALUES ({a:Int64} + 1, {b:String})", ""},
		} {
			c.must(insert.sql, "query", insert.query, "param_a", "11", "param_b", "twelve")
		}
		if got := c.must("SELECT count(), uniqExact(a), sum(a), sum(length(b)) FROM ins"); got != "12\t12\t78\t59" {
			t.Errorf("got %q: %s", got, c.must("SELECT * FROM ins ORDER BY a"))
		}
		c.refused("27", "INSERT INTO ins FORMAT CSV\nno number,x\n")
		c.refused("60", "INSERT INTO nowhere FORMAT CSV\n1\n")
		c.refused("48", "INSERT INTO ins FROM INFILE '/etc/passwd' FORMAT CSV")
		r := c.post("INSERT INTO ins FORMAT CSV\n13,x\n")
		if !strings.Contains(r.header.Get("X-ClickHouse-Summary"), `"written_rows":"1"`) {
			t.Errorf("summary %q", r.header.Get("X-ClickHouse-Summary"))
		}
	})

	t.Run("forms", func(t *testing.T) {
		c := c
		c.t = t
		const b = "--B\r\nContent-Disposition: form-data; name="
		form := func(body string) reply {
			return c.do(http.MethodPost, nil, strings.NewReader(body+"--B--\r\n"), func(r *http.Request) { r.Header.Set("Content-Type", "multipart/form-data; boundary=B") })
		}
		if r := form(b + "\"query\"\r\n\r\nSELECT {x:Int8} + 1\r\n" + b + "\"param_x\"\r\n\r\n4\r\n"); r.body != "5\n" {
			t.Errorf("%+v", r)
		}
		if r := form(b + "\"t\"; filename=\"f\"\r\n\r\n1\r\n"); r.header.Get("X-ClickHouse-Exception-Code") != "48" {
			t.Errorf("%+v", r)
		}
	})

	t.Run("other paths", func(t *testing.T) {
		c := c
		c.t = t
		for path, want := range map[string]int{"/ping": 200, "/": 200, "/play": 404, "/health": 200} {
			c.base = s.URL() + path
			req, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, c.base, nil)
			req.SetBasicAuth(c.user, c.password)
			resp, err := c.http.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			text, _ := io.ReadAll(resp.Body)
			_ = resp.Body.Close()
			if resp.StatusCode != want || path == "/ping" && string(text) != "Ok.\n" || path == "/health" && !strings.Contains(string(text), `"sandbox"`) {
				t.Errorf("%s: %d %s", path, resp.StatusCode, text)
			}
		}
	})
}

const slowQuery = "SELECT sum(sleepEachRow(0.01)) FROM numbers(1000000) SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0"

// running counts the statements with the given query id.
func (c client) running(id string) string {
	return c.must("SELECT count() FROM system.processes WHERE Settings['log_comment'] = {id:String}", "param_id", id)
}

func (c client) awaitRunning(id, want string) {
	c.t.Helper()
	deadline := time.Now().Add(time.Minute)
	for c.running(id) != want {
		if time.Now().After(deadline) {
			c.t.Fatalf("the query %s never came to %s running", id, want)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func TestQueriesAreStopped(t *testing.T) {
	s := clickhousetest.Start(t)
	c := newClient(t, s)
	t.Run("by a client that goes away", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			req, _ := http.NewRequestWithContext(ctx, http.MethodPost, s.URL()+"/?query_id=gone", strings.NewReader(slowQuery))
			req.SetBasicAuth(c.user, c.password)
			if resp, err := c.http.Do(req); err == nil {
				_ = resp.Body.Close()
				t.Error("the query ended")
			}
		})
		c.awaitRunning("gone", "1")
		if r := c.post("SELECT 1", "query_id", "gone"); r.header.Get("X-ClickHouse-Exception-Code") != "216" {
			t.Errorf("a second query of the same id: %+v", r)
		}
		cancel()
		wg.Wait()
		c.awaitRunning("gone", "0")
	})
	t.Run("by KILL QUERY and the client's id", func(t *testing.T) {
		got := make(chan reply, 1)
		go func() { got <- c.post(slowQuery, "query_id", "victim") }()
		c.awaitRunning("victim", "1")
		c.must("KILL QUERY WHERE query_id = 'victim'")
		if r := <-got; r.header.Get("X-ClickHouse-Exception-Code") != "394" {
			t.Errorf("%+v", r)
		}
	})
	t.Run("while an answer streams to a client that goes away", func(t *testing.T) {
		req, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/?query_id=stream", strings.NewReader("SELECT number FROM system.numbers FORMAT TSV"))
		req.SetBasicAuth(c.user, c.password)
		resp, err := c.http.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.CopyN(io.Discard, resp.Body, 4<<20); err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		c.awaitRunning("stream", "0")
	})
}

func TestStatementsRunInParallel(t *testing.T) {
	s := clickhousetest.Start(t)
	c := newClient(t, s)
	c.must("CREATE TABLE par (a UInt64) ENGINE = MergeTree ORDER BY a")
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			for range 10 {
				if i%2 == 0 {
					if r := c.post("INSERT INTO par SELECT number FROM numbers(1000)"); r.status != 200 {
						t.Errorf("%+v", r)
					}
				} else if r := c.post("SELECT count() % 1000 FROM par"); r.body != "0\n" {
					t.Errorf("%+v", r)
				}
			}
		})
	}
	wg.Wait()
	if got := c.must("SELECT count() FROM par"); got != "80000" {
		t.Errorf("%s rows", got)
	}
}

// A client that sends its head slowly, or lies about its length, does not hold the server up.
func TestRawConnection(t *testing.T) {
	s := clickhousetest.Start(t)
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "POST / HTTP/1.1\r\nHost: "+s.Addr()+"\r\nX-ClickHouse-User: spade\r\nX-ClickHouse-Key: "+clickhousetest.Password+"\r\nContent-Length: 1000\r\n\r\nINSERT INTO x FORM"); err != nil {
		t.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		t.Fatal(err)
	}
	if got := newClient(t, s).must("SELECT 1"); got != "1" {
		t.Errorf("got %q", got)
	}
}
