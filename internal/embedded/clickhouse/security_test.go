package clickhouse_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
)

func TestReaderSQL(t *testing.T) {
	dir := t.TempDir()
	s := clickhousetest.StartIn(t, dir)
	writer := newClient(t, s)
	writer.must("CREATE TABLE steps (a Int64) ENGINE = MergeTree ORDER BY a")
	writer.must("INSERT INTO steps VALUES (1), (2)")
	c := writer.reader()

	for sql, want := range map[string]string{
		"SELECT sum(a) FROM steps":                              "3",
		"WITH x AS (SELECT a FROM steps) SELECT count() FROM x": "2",
		"SHOW TABLES":                                   "steps",
		"EXISTS TABLE steps":                            "1",
		"SELECT count() > 0 FROM system.tables":         "1",
		"SELECT {n:Int64} + 1":                          "8",
		"SELECT sum(number) FROM numbers(4)":            "6",
		"SELECT getSetting('readonly')":                 "1",
		"SELECT getSetting('max_execution_time')":       "120",
		"SELECT 'INTO OUTFILE ''x''; DROP TABLE steps'": "INTO OUTFILE \\'x\\'; DROP TABLE steps",
	} {
		if got := c.must(sql, "param_n", "7"); got != want {
			t.Errorf("%s: %q, want %q", sql, got, want)
		}
	}

	out := filepath.Join(dir, "tmp", "written")
	for _, sql := range []string{
		fmt.Sprintf("SELECT 1 INTO OUTFILE '%s'", out),
		fmt.Sprintf("SELECT 1 INTO OUTFILE '%s' APPEND", out),
		fmt.Sprintf("SELECT 1 INTO/**/OUTFILE '%s' FORMAT CSV", out),
		fmt.Sprintf("SELECT 1 into -- x\noutfile '%s' TRUNCATE", out),
		"SELECT 1; DROP TABLE steps",
		"SELECT 1 /*; */; SELECT 2",
		"SELECT '\\'' ; DROP TABLE steps -- '",
		"DROP TABLE steps",
		"TRUNCATE TABLE steps",
		"INSERT INTO steps VALUES (3)",
		"INSERT INTO steps FORMAT CSV\n3",
		"INSERT INTO steps SELECT 3",
		"WITH 3 AS x INSERT INTO steps SELECT x",
		"INSERT INTO FUNCTION file('x', 'CSV', 'a Int8') SELECT 1",
		"ALTER TABLE steps DELETE WHERE 1",
		"CREATE TABLE x (a Int8) ENGINE = Memory",
		"CREATE TEMPORARY TABLE x (a Int8)",
		"KILL QUERY WHERE 1",
		"SYSTEM SHUTDOWN",
		"SYSTEM FLUSH LOGS",
		"SET readonly = 0",
		"BACKUP TABLE steps TO File('x')",
		"ATTACH TABLE x",
		"SELECT 1 SETTINGS readonly = 0",
		"SELECT 1 SETTINGS max_execution_time = 100000",
		"SELECT file('/etc/passwd')",
		"SELECT * FROM file('/etc/passwd', 'LineAsString')",
		"SELECT * FROM `file`('/etc/passwd', 'LineAsString')",
		"SELECT 1 WHERE 'x' IN file('/etc/passwd', 'LineAsString')",
		"DESCRIBE TABLE file('/etc/passwd')",
		"SELECT * FROM url('http://127.0.0.1:1/', 'CSV', 'a Int8')",
		"SELECT * FROM remote('127.0.0.1', system.one)",
		"SELECT * FROM s3('http://127.0.0.1:1/', 'CSV')",
		"SELECT * FROM mysql('127.0.0.1:1', 'd', 't', 'u', 'p')",
		"SELECT * FROM executable('id', TSV, 'a String')",
		"SELECT * FROM input('a String')",
		"SELECT * FROM '/etc/passwd'",
		"SELECT * FROM default.`/etc/passwd`",
		"SELECT * FROM steps, default.\"/etc/passwd\"",
		"SELECT * FROM default.{t:Identifier}",
		"SELECT * FROM \"default\".{t : Identifier}",
	} {
		c.refused("164", sql, "param_t", "/etc/passwd")
	}
	c.refused("164", "SELECT 1", "database", "default")
	c.refused("164", "SELECT 1", "format_schema", "/etc/passwd")
	c.refused("164", "SELECT 1", "allow_ddl", "1")
	c.refused("164", "")
	if got := c.must("SELECT getSetting('readonly'), getSetting('max_execution_time')", "readonly", "2", "max_execution_time", "100000"); got != "1\t120" {
		t.Errorf("a reader raised its limits to %s", got)
	}
	if got := c.must("SELECT getSetting('max_execution_time')", "max_execution_time", "5"); got != "5" {
		t.Errorf("a reader's lower limit came to %s", got)
	}
	if r := c.do(http.MethodGet, values("query", "INSERT INTO steps VALUES (3)"), nil, nil); r.header.Get("X-ClickHouse-Exception-Code") != "164" {
		t.Errorf("%+v", r)
	}
	if got := writer.must("SELECT count() FROM steps"); got != "2" {
		t.Errorf("the reader changed the table: %s rows", got)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("the reader wrote a file")
	}
}

// The reader logs in through clickhouse-go as well, which sends settings of its own.
func TestReaderThroughClient(t *testing.T) {
	s := clickhousetest.Start(t)
	o := clickhousetest.ReaderOptions(s)
	o.Settings = clickhouse.Settings{"readonly": 1, "max_execution_time": 10}
	conn := clickhousetest.Open(t, o)
	if err := conn.Ping(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := count(t, conn, "SELECT count() FROM numbers(7)"); got != 7 {
		t.Errorf("got %d", got)
	}
	if err := conn.Exec(t.Context(), "CREATE TABLE x (a Int8) ENGINE = Memory"); err == nil || !strings.Contains(err.Error(), "refused") {
		t.Errorf("got %v", err)
	}
}

// What a page in a browser can make it send: forms and fetches from elsewhere, without the secret or, if the user once
// logged in by hand, with it; and a name of the attacker's that resolves to the loopback address.
func TestWebPages(t *testing.T) {
	s := clickhousetest.Start(t)
	c := newClient(t, s)
	c.must("CREATE TABLE victim (a Int8) ENGINE = Memory")
	plain := func(r *http.Request) {
		r.Header.Del("Authorization")
		r.Header.Set("Content-Type", "text/plain;charset=UTF-8")
	}
	for name, attack := range map[string]struct {
		status int
		change func(*http.Request)
	}{
		"no secret":           {401, plain},
		"wrong secret":        {401, func(r *http.Request) { r.SetBasicAuth(clickhousetest.User, "guess") }},
		"wrong user":          {401, func(r *http.Request) { r.SetBasicAuth("default", clickhousetest.Password) }},
		"the reader's secret": {401, func(r *http.Request) { r.SetBasicAuth(clickhousetest.User, clickhousetest.ReaderPassword) }},
		"empty secret":        {401, func(r *http.Request) { r.SetBasicAuth(clickhousetest.User, "") }},
		"wrong secret in header": {401, func(r *http.Request) {
			r.Header.Set("X-ClickHouse-User", "spade")
			r.Header.Set("X-ClickHouse-Key", "guess")
		}},
		"another origin":        {403, func(r *http.Request) { r.Header.Set("Origin", "http://evil.example") }},
		"an opaque origin":      {403, func(r *http.Request) { r.Header.Set("Origin", "null") }},
		"another port's origin": {403, func(r *http.Request) { r.Header.Set("Origin", "http://127.0.0.1:1") }},
		"a cross-site form":     {403, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "cross-site") }},
		"a same-site form":      {403, func(r *http.Request) { r.Header.Set("Sec-Fetch-Site", "same-site") }},
		"a rebound name":        {403, func(r *http.Request) { r.Host = "evil.example" }},
		"a rebound name's port": {403, func(r *http.Request) { r.Host = "evil.example:" + r.URL.Port() }},
	} {
		r := c.do(http.MethodPost, nil, strings.NewReader("DROP TABLE victim"), attack.change)
		if r.status != attack.status || r.header.Get("X-ClickHouse-Exception-Code") != "516" {
			t.Errorf("%s: status %d, want %d: %s", name, r.status, attack.status, r.body)
		}
		if r.header.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: CORS is sent", name)
		}
	}
	r := c.do(http.MethodOptions, nil, nil, func(r *http.Request) {
		plain(r)
		r.Header.Set("Origin", "http://evil.example")
		r.Header.Set("Access-Control-Request-Method", "POST")
	})
	if r.status != 403 || r.header.Get("Access-Control-Allow-Methods") != "" {
		t.Errorf("a preflight: %+v", r)
	}
	if got := c.must("EXISTS TABLE victim"); got != "1" {
		t.Error("the table is gone")
	}
	for _, change := range []func(*http.Request){
		func(r *http.Request) { r.Header.Set("Origin", s.URL()) },
		func(r *http.Request) { r.Host = "localhost:" + r.URL.Port() },
		func(r *http.Request) {
			r.Header.Del("Authorization")
			r.URL.RawQuery += values("user", c.user, "password", c.password).Encode()
		},
	} {
		if r := c.do(http.MethodPost, nil, strings.NewReader("SELECT 1"), change); r.status != 200 {
			t.Errorf("refused: %+v", r)
		}
	}
}

// The platform's own user may run any SQL, but the kernel keeps the process to its own folder and off the network.
func TestProcessIsConfined(t *testing.T) {
	dir := t.TempDir()
	s := clickhousetest.StartIn(t, dir)
	if !strings.HasPrefix(s.Sandbox(), "landlock") {
		t.Logf("not confined here: %s", s.Sandbox())
		return
	}
	c := newClient(t, s)
	outside := t.TempDir()
	secretFile := filepath.Join(outside, "secret")
	if err := os.WriteFile(secretFile, []byte("secret\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	written := filepath.Join(outside, "written")
	for _, sql := range []string{
		"SELECT 1 INTO OUTFILE '" + written + "'",
		"INSERT INTO FUNCTION file('" + written + "', 'CSV', 'a Int8') SELECT 1",
		"SELECT * FROM file('" + secretFile + "', 'LineAsString')",
		"SELECT * FROM default.`" + secretFile + "`",
		"SELECT * FROM url('" + s.URL() + "/ping', 'LineAsString') SETTINGS http_max_tries = 1",
	} {
		if r := c.post(sql); r.status == 200 {
			t.Errorf("%s: %s", sql, r.body)
		}
	}
	if _, err := os.Stat(written); err == nil {
		t.Error("a file was written outside the folder")
	}
}

// The secrets are not in the arguments, environment or files of the child, nor in what it says.
func TestSecretsStayHidden(t *testing.T) {
	dir := t.TempDir()
	s := clickhousetest.StartIn(t, dir)
	c := newClient(t, s)
	c.must("SELECT 1", "user", "x", "password", clickhousetest.ReaderPassword)
	seen := s.URL() + s.Sandbox() + c.must("SELECT * FROM system.processes FORMAT JSON") + c.post("SELECT nothing").body
	for _, file := range []string{"cmdline", "environ"} {
		if text, err := os.ReadFile(fmt.Sprintf("/proc/%d/%s", s.PID(), file)); err == nil {
			seen += string(text)
		}
	}
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			text, _ := os.ReadFile(path)
			seen += string(text)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, canary := range []string{clickhousetest.Password, clickhousetest.ReaderPassword} {
		if strings.Contains(seen, canary) {
			t.Errorf("%q is there to be seen", canary)
		}
	}
	if text := fmt.Sprintf("%v %+v", clickhousetest.Config(dir), clickhousetest.Config(dir)); strings.Contains(text, clickhousetest.Password) {
		t.Errorf("the config prints the secret: %s", text)
	}
}
