package engine_test

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/chdblib"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
)

// One process can run one engine, so the tests share it.
var shared *engine.Engine

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	path, err := chdblib.Find(chdblib.Config{})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir, err := os.MkdirTemp("", "engine-test-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer os.RemoveAll(dir) //nolint:errcheck // a leftover in the temp folder harms nobody
	lib, err := engine.Load(path)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	if shared, err = engine.Open(lib, dir, nil); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer shared.Close()
	return m.Run()
}

func connect(t *testing.T, settings map[string]string) *engine.Conn {
	t.Helper()
	c, err := shared.Connect("", settings)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func mustExec(t *testing.T, c *engine.Conn, sql string, params ...engine.Param) string {
	t.Helper()
	out, _, err := c.Exec(sql, "TSV", params...)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func TestExecBindsParametersAndKeepsNUL(t *testing.T) {
	c := connect(t, nil)
	got := mustExec(t, c, "SELECT {n:UInt32} + 1, length({s:String}), hex({s:String})", engine.Param{Name: "n", Value: "41"}, engine.Param{Name: "s", Value: "a\x00'b"})
	if got != "42\t4\t61002762" {
		t.Errorf("got %q", got)
	}
	got = mustExec(t, c, "SELECT length('a\x00b')")
	if got != "3" {
		t.Errorf("a NUL in the statement: length %s, want 3", got)
	}
}

func TestErrorsCarryTheCodeOnce(t *testing.T) {
	_, _, err := connect(t, map[string]string{"readonly": "1"}).Exec("SELECT 1 SETTINGS max_block_size = 2", "TSV")
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != engine.CodeReadonly {
		t.Fatalf("got %v", err)
	}
	if strings.Count(e.Message, "Code: 164") != 1 {
		t.Errorf("the message repeats itself: %s", e.Message)
	}
}

func TestUnknownSettingIsRefused(t *testing.T) {
	_, err := shared.Connect("", map[string]string{"no_such_setting": "1"})
	var e *engine.Error
	if !errors.As(err, &e) || e.Code != engine.CodeUnknownSetting {
		t.Fatalf("got %v", err)
	}
}

func TestHandlesDoNotShareSettings(t *testing.T) {
	a, b := connect(t, map[string]string{"max_threads": "3"}), connect(t, nil)
	if got := mustExec(t, a, "SELECT getSetting('max_threads')"); got != "3" {
		t.Errorf("own setting: %s", got)
	}
	if got := mustExec(t, b, "SELECT getSetting('max_threads')"); got == "3" {
		t.Error("a setting reached another handle")
	}
}

func TestInsertTakesBinaryInAnyCuts(t *testing.T) {
	c := connect(t, nil)
	mustExec(t, c, "CREATE TABLE default.cuts (a String) ENGINE = MergeTree ORDER BY a")
	var body []byte
	for i := range 1000 {
		body = append(body, 3, 'x', '\n', byte(i%256)) // RowBinary, blank lines and NULs among the bytes
	}
	in, err := c.Insert("INSERT INTO default.cuts", "RowBinary")
	if err != nil {
		t.Fatal(err)
	}
	for len(body) > 0 {
		n := min(7, len(body))
		if _, err := in.Write(body[:n]); err != nil {
			t.Fatal(err)
		}
		body = body[n:]
	}
	stats, err := in.Commit()
	if err != nil || stats.WrittenRows != 1000 {
		t.Fatalf("wrote %d rows, %v", stats.WrittenRows, err)
	}
	if got := mustExec(t, c, "SELECT count(), uniqExact(a) FROM default.cuts"); got != "1000\t256" {
		t.Errorf("stored %s", got)
	}
}

func TestInsertFailuresAreReportedAndFreeTheHandle(t *testing.T) {
	c := connect(t, nil)
	mustExec(t, c, "CREATE TABLE default.fails (a UInt8) ENGINE = MergeTree ORDER BY a")
	if _, err := c.Insert("INSERT INTO default.nowhere", "CSV"); err == nil {
		t.Fatal("an insert into a missing table began")
	}
	in, err := c.Insert("INSERT INTO default.fails", "CSV")
	if err != nil {
		t.Fatal(err)
	}
	_, werr := in.Write([]byte("1\nno number\n"))
	_, cerr := in.Commit()
	if werr == nil && cerr == nil {
		t.Fatal("a malformed row was accepted")
	}
	in, err = c.Insert("INSERT INTO default.fails", "CSV")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := in.Write([]byte("1\n2\n")); err != nil {
		t.Fatal(err)
	}
	in.Abort()
	if got := mustExec(t, c, "SELECT count() FROM default.fails"); got != "0" {
		t.Errorf("%s rows after a failed and an aborted insert", got)
	}
}

func TestKillStopsOnlyItsTag(t *testing.T) {
	victim, other := connect(t, map[string]string{"log_comment": "victim"}), connect(t, map[string]string{"log_comment": "other"})
	const slow = "SELECT sum(sleepEachRow(0.01)) FROM numbers(%d) SETTINGS max_block_size = 1, function_sleep_max_microseconds_per_block = 0"
	var wg sync.WaitGroup
	var victimErr, otherErr error
	ended := make(chan struct{})
	wg.Go(func() {
		defer close(ended)
		_, _, victimErr = victim.Exec(fmt.Sprintf(slow, 100000), "TSV")
	})
	wg.Go(func() { _, _, otherErr = other.Exec(fmt.Sprintf(slow, 30), "TSV") })
	for alive := true; alive; {
		if err := shared.Kill("victim"); err != nil {
			t.Error(err)
		}
		select {
		case <-ended:
			alive = false
		case <-time.After(20 * time.Millisecond):
		}
	}
	wg.Wait()
	var e *engine.Error
	if !errors.As(victimErr, &e) || e.Code != engine.CodeQueryCancelled {
		t.Errorf("the victim ended with %v", victimErr)
	}
	if otherErr != nil {
		t.Errorf("the other ended with %v", otherErr)
	}
}

func TestClassify(t *testing.T) {
	c := connect(t, nil)
	for sql, want := range map[string]struct {
		count int
		class engine.Class
	}{
		"SELECT 1":                       {1, engine.ClassReadOnly},
		"SELECT 1; SELECT 2":             {2, engine.ClassReadOnly},
		"DROP TABLE x":                   {1, engine.ClassMutating},
		"SELECT 1 INTO OUTFILE '/tmp/x'": {1, engine.ClassControl},
		"KILL QUERY WHERE 1":             {1, engine.ClassControl},
		"SELECT (":                       {0, engine.ClassUnknown},
	} {
		count, class, err := c.Classify(sql)
		if err != nil || count != want.count || class != want.class {
			t.Errorf("%s: %d statements of class %d, %v; want %d of %d", sql, count, class, err, want.count, want.class)
		}
	}
}

// The Go runtime turns a nil dereference into a panic by its own signal handler, which the engine must leave alone.
func TestGoKeepsItsSignals(t *testing.T) {
	mustExec(t, connect(t, nil), "SELECT 1")
	defer func() {
		if recover() == nil {
			t.Error("no panic")
		}
	}()
	var p *engine.Stats
	t.Log(p.ReadRows)
}

func TestClosedHandle(t *testing.T) {
	c := connect(t, nil)
	c.Close()
	c.Close()
	if _, _, err := c.Exec("SELECT 1", "TSV"); !errors.Is(err, engine.ErrClosed) {
		t.Errorf("got %v", err)
	}
}
