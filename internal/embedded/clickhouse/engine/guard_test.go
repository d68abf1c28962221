package engine_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
)

// pieces are put together at random: what ends quotes and comments, what separates statements, and statements.
var pieces = []string{
	"SELECT 1", "SELECT 'a'", "SELECT `a`", "FROM numbers(1)", "WITH 1 AS x", "INTO OUTFILE '/nowhere/x'", "INTO", "OUTFILE", "'/nowhere/x'",
	"FORMAT CSV", "SETTINGS max_threads = 1", "; DROP TABLE t", ";", "DROP TABLE t", "INSERT INTO t SELECT 1", "PARALLEL WITH", "EXPLAIN", "DESCRIBE",
	"SHOW TABLES", "KILL QUERY WHERE 1", "SET readonly = 0", "UNION ALL", "(", ")", ",", "'", "\"", "`", "\\", "\\'", "''", "\"\"", "``",
	"/*", "*/", "--", "//", "# ", "#!", "\n", "\r", "\x00", "$$", "$a$", "$", "1$$", "a$$", "‘", "’", "“", "”", "\u00a0", "−−", " ", "\t", "\v", "\f",
	"{x:String}", "{x:Identifier}", "::", "->", "1e", "0x", ".", "?", "@@x", "<=>", "!=", "ü", "\xff", "AS x", "WHERE 1", "ALTER TABLE t DELETE WHERE 1",
}

// agree fails the test when the guard lets a text through that the engine does not see as one reading statement.
func agree(t *testing.T, conn *engine.Conn, sql string) {
	t.Helper()
	if sqlguard.Check(sql) != nil {
		return
	}
	n, class, err := conn.Classify(sql)
	if err != nil {
		t.Fatalf("%q: %v", sql, err)
	}
	if n > 1 || n == 1 && class != engine.ClassReadOnly {
		t.Errorf("the guard lets %q through, which is %d statements of class %d", sql, n, class)
	}
}

func TestGuardAgreesWithTheEngine(t *testing.T) {
	conn := connect(t, map[string]string{"implicit_select": "0"})
	r := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // a test's fixed sequence
	passed := 0
	for range 40_000 {
		var sql strings.Builder
		sql.WriteString([]string{"SELECT 1 ", "SELECT 'a' ", "WITH x AS (SELECT 1) ", ""}[r.IntN(4)])
		for range 1 + r.IntN(6) {
			sql.WriteString(pieces[r.IntN(len(pieces))])
			if r.IntN(3) > 0 {
				sql.WriteString(" ")
			}
		}
		agree(t, conn, sql.String())
		if sqlguard.Check(sql.String()) == nil {
			passed++
		}
	}
	if passed < 500 {
		t.Errorf("only %d texts came through the guard: the test says little", passed)
	}
}

func FuzzGuardAgreesWithTheEngine(f *testing.F) {
	for _, p := range pieces {
		f.Add("SELECT 1 " + p + " SELECT 2")
	}
	f.Fuzz(func(t *testing.T, sql string) {
		agree(t, connect(t, map[string]string{"implicit_select": "0"}), sql)
	})
}
