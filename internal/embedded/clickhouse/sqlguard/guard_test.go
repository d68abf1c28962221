package sqlguard_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
)

func TestCheckLetsReadersThrough(t *testing.T) {
	for _, sql := range []string{
		"SELECT 1",
		"select 1;",
		" -- a comment\n/* and another */ SELECT 1 ; -- and a last one",
		"(SELECT 1) UNION ALL (SELECT 2)",
		"WITH x AS (SELECT 1 AS a) SELECT a FROM x",
		"SHOW TABLES",
		"DESCRIBE TABLE runs",
		"DESC runs",
		"EXISTS TABLE runs",
		"EXPLAIN PIPELINE SELECT count() FROM steps",
		"SELECT * FROM numbers(10)",
		"SELECT * FROM system.parts JOIN system.tables USING (database)",
		"SELECT 'INTO OUTFILE; DROP TABLE x', \"INTO\" FROM t",
		"SELECT 'it''s; \\'INTO OUTFILE' FROM t",
		"SELECT a FROM t WHERE b = {b:String} FORMAT JSONEachRow",
		"SELECT extract(year FROM toDate('2026-01-01')), trim(BOTH ' ' FROM lower(a)) FROM t",
		"SELECT tag FROM t ARRAY JOIN splitByChar(',', tags) AS tag",
		"SELECT a IS DISTINCT FROM lower(b) FROM t",
		"SELECT a AS \"reward/step\" FROM t",
		"SELECT `tags.name` FROM spade.rollouts",
		"SELECT file FROM t",
		"SELECT profile(1), aisle(2)",
		"SELECT quantile(0.5)(x), [1, 2][1], map('a', 1)['a'], x -> x + 1, a ? b : c, @@version, 1e-5, 0xFF FROM t",
		"SELECT 'ünïcode – “quotes”' -- ünïcode",
	} {
		if err := sqlguard.Check(sql); err != nil {
			t.Errorf("%s\n\t%v", sql, err)
		}
	}
}

func TestCheckRefuses(t *testing.T) {
	for sql, reason := range map[string]string{
		"":                                      "empty",
		" ; ; ":                                 "empty",
		"SELECT 1 INTO OUTFILE '/tmp/x'":        "INTO OUTFILE",
		"SELECT 1 INTO OUTFILE '/tmp/x' APPEND": "INTO OUTFILE",
		"SELECT 1 into/* hidden */outfile '/tmp/x' FORMAT CSV":   "INTO OUTFILE",
		"SELECT 1 INTO -- hidden\nOUTFILE '/tmp/x'":              "INTO OUTFILE",
		"SELECT 1; DROP TABLE steps":                             "second",
		"SELECT 1 /* ; */ ; SELECT 2":                            "second",
		"SELECT '\\''; DROP TABLE steps -- '":                    "second",
		"SELECT ''';' ; DROP TABLE steps":                        "second",
		"DROP TABLE steps":                                       "DROP",
		"INSERT INTO steps SELECT * FROM steps":                  "INSERT",
		"WITH x AS (SELECT 1) INSERT INTO steps SELECT * FROM x": "INSERT INTO",
		"KILL QUERY WHERE 1":                                     "KILL",
		"-- SELECT\nKILL QUERY WHERE 1":                          "KILL",
		"/* SELECT */ SYSTEM SHUTDOWN":                           "SYSTEM",
		"SET readonly = 0":                                       "SET",
		"USE system":                                             "USE",
		"FROM numbers(1) SELECT number":                          "FROM",
		"1 + 1":                                                  "1",
		"SELECT 1 PARALLEL WITH DROP TABLE x":                    "PARALLEL WITH",
		"SELECT file('/etc/passwd')":                             "file()",
		"SELECT FILE ('/etc/passwd')":                            "FILE()",
		"SELECT `file`('/etc/passwd')":                           "file()",
		"SELECT \"file\" /* x */ ('/etc/passwd')":                "file()",
		"SELECT `\\x66ile`('/etc/passwd')":                       "backslash",
		"SELECT 1 FROM file('/etc/passwd')":                      "file()",
		"SELECT 1 FROM numbers(1), file('/etc/passwd')":          "file()",
		"SELECT 1 IN file('/etc/passwd')":                        "file()",
		"DESCRIBE TABLE url('http://127.0.0.1')":                 "url()",
		"SELECT * FROM s3Cluster('c', 'x')":                      "s3Cluster()",
		"SELECT * FROM remote('127.0.0.1', system.one)":          "remote()",
		"SELECT * FROM mysql('h', 'd', 't', 'u', 'p')":           "mysql()",
		"SELECT * FROM executable('x', TSV, 'a String')":         "executable()",
		"SELECT * FROM input('a String')":                        "input()",
		"SELECT * FROM somethingNew('x')":                        "somethingNew()",
		"SELECT extract(year FROM x), 1 FROM somethingNew('x')":  "somethingNew()",
		"SELECT * FROM t JOIN somethingNew('x') USING a":         "somethingNew()",
		"EXPLAIN TABLE OVERRIDE mysql('h', 'd', 't', 'u', 'p')":  "TABLE OVERRIDE",
		"SELECT * FROM '/etc/passwd'":                            "string in place of a table",
		"SELECT * FROM default.`/etc/passwd`":                    "slash",
		"SELECT * FROM t, default.\"/etc/passwd\"":               "slash",
		"SELECT * FROM default.`\\x2fetc\\x2fpasswd`":            "backslash",
		"SELECT * FROM default.{f:Identifier}":                   "Identifier",
		"SELECT $$a$$":                                           "dollar",
		"SELECT 1$$;$$; DROP TABLE x":                            "",
		"SELECT a$b FROM t":                                      "dollar",
		"SELECT ‘x’":                                             "ASCII",
		"SELECT 1\u00a0+ 1":                                      "ASCII",
		"SELECT 1 \x00; DROP TABLE x":                            "second",
		"SELECT 1 \x00":                                          "outside quotes",
		"SELECT 1 \\G":                                           "outside quotes",
		"SELECT 'unclosed":                                       "ends inside",
		"SELECT 1 /* unclosed":                                   "ends inside",
		"SELECT catboostEvaluate('/etc/passwd', 1)":              "catboostEvaluate()",
		"SELECT aiGenerate('c', 'p')":                            "aiGenerate()",
	} {
		err := sqlguard.Check(sql)
		var refusal *sqlguard.Refusal
		if !errors.As(err, &refusal) {
			t.Errorf("%s\n\tgot %v, want a refusal", sql, err)
		} else if !strings.Contains(err.Error(), reason) {
			t.Errorf("%s\n\trefused for %q, want %q", sql, err, reason)
		}
	}
}

func TestParse(t *testing.T) {
	for sql, want := range map[string]struct{ verb, format, with string }{
		"SELECT 1":             {"SELECT", "", "SELECT 1\nO FORMAT F"},
		"SELECT 1 ; -- end":    {"SELECT", "", "SELECT 1\nO FORMAT F"},
		"select 1 format JSON": {"SELECT", "JSON", "select 1 \nO FORMAT F"},
		"SELECT 1 FORMAT `CSV` SETTINGS max_threads = 1;": {"SELECT", "CSV", "SELECT 1 \nO FORMAT F SETTINGS max_threads = 1"},
		"SELECT 1 SETTINGS max_threads = 1 FORMAT CSV":    {"SELECT", "CSV", "SELECT 1 SETTINGS max_threads = 1 \nO FORMAT F"},
		"SELECT format FROM t":                            {"SELECT", "", "SELECT format FROM t\nO FORMAT F"},
		"SELECT * FROM format(CSV, 'a')":                  {"SELECT", "", "SELECT * FROM format(CSV, 'a')\nO FORMAT F"},
		"SELECT (SELECT 1 FORMAT CSV)":                    {"SELECT", "", "SELECT (SELECT 1 FORMAT CSV)\nO FORMAT F"},
		"(SELECT 1)":                                      {"SELECT", "", "(SELECT 1)\nO FORMAT F"},
		"SHOW CREATE TABLE t -- it\n FORMAT TSVRaw":       {"SHOW", "TSVRaw", "SHOW CREATE TABLE t -- it\n \nO FORMAT F"},
	} {
		s, err := sqlguard.Parse(sql)
		if err != nil {
			t.Errorf("%s: %v", sql, err)
			continue
		}
		if got := s.WithOutput("O", "F"); s.Verb != want.verb || s.Format != want.format || !s.Output || got != want.with {
			t.Errorf("%s: verb %q format %q output %t, with a clause %q", sql, s.Verb, s.Format, s.Output, got)
		}
	}
	if _, err := sqlguard.Parse("SELECT 1; SELECT 2"); !errors.Is(err, sqlguard.ErrMany) {
		t.Errorf("two statements: %v", err)
	}
	if s, err := sqlguard.Parse("SELECT 1 INTO OUTFILE 'x'"); err != nil || !s.OutFile {
		t.Errorf("INTO OUTFILE was not seen: %v", err)
	}
}

func TestParseInsert(t *testing.T) {
	for text, want := range map[string]sqlguard.Insert{
		"INSERT INTO t FORMAT Native\n\n\x00x":                           {Head: "INSERT INTO t", Format: "Native", Data: 28},
		"INSERT INTO t FORMAT CSV 1,2":                                   {Head: "INSERT INTO t", Format: "CSV", Data: 25},
		"insert into d.t (a, `b`) settings x = 'FORMAT' format CSV\r\n1": {Head: "insert into d.t (a, `b`) settings x = 'FORMAT'", Format: "CSV", Data: 59},
		"INSERT INTO t VALUES (1, 'FORMAT')":                             {Head: "INSERT INTO t", Format: "Values", Data: 20},
		"INSERT INTO t (a) -- FORMAT X\n VALUES (1)":                     {Head: "INSERT INTO t (a)", Format: "Values", Data: 37},
		"INSERT INTO t":                                  {Head: "INSERT INTO t", Format: "Values", Data: 13},
		"INSERT INTO format FORMAT CSV\n":                {Head: "INSERT INTO format", Format: "CSV", Data: 30},
		"INSERT INTO TABLE values VALUES (1)":            {Head: "INSERT INTO TABLE values", Format: "Values", Data: 31},
		"INSERT INTO table.values (format) FORMAT CSV\n": {Head: "INSERT INTO table.values (format)", Format: "CSV", Data: 45},
		"INSERT INTO t FORMAT CSV\nSELECT 'unclosed":     {Head: "INSERT INTO t", Format: "CSV", Data: 25},
	} {
		if got, err := sqlguard.ParseInsert(text, true); err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
	}
	for text, want := range map[string]error{
		"SELECT 1":                                 sqlguard.ErrNotInsert,
		"INSERT INTO t SELECT 1":                   sqlguard.ErrNotInsert,
		"INSERT INTO t (SELECT 1)":                 sqlguard.ErrNotInsert,
		"INSERT INTO t WITH 1 AS x SELECT x":       sqlguard.ErrNotInsert,
		"INSERT INTO t FROM INFILE 'x' FORMAT CSV": sqlguard.ErrInFile,
	} {
		if _, err := sqlguard.ParseInsert(text, true); !errors.Is(err, want) {
			t.Errorf("%q: %v, want %v", text, err, want)
		}
	}
}

// A head that arrives in pieces is asked for until it is whole, and never read differently.
func TestParseInsertInPieces(t *testing.T) {
	const text = "INSERT INTO d.t (a) SETTINGS x = 'y' FORMAT ArrowStream\r\nDATA"
	whole, err := sqlguard.ParseInsert(text, true)
	if err != nil {
		t.Fatal(err)
	}
	for n := range len(text) {
		got, err := sqlguard.ParseInsert(text[:n], false)
		if errors.Is(err, sqlguard.ErrShort) {
			continue
		}
		if err != nil && n >= len("INSERT") || err == nil && got != whole {
			t.Errorf("after %d bytes %q: %+v, %v", n, text[:n], got, err)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, s := range []string{"SELECT 1", "SELECT 'a\\'b'; x", "/* */ -- \n#!", "$a$ $a$", "INSERT INTO t FORMAT CSV\n1", "\"`'", "1$$;$$"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, sql string) {
		if err := sqlguard.Check(sql); err == nil {
			s, err := sqlguard.Parse(sql)
			if err != nil || s.OutFile || !s.Output {
				t.Fatalf("%q was let through and does not parse as a query: %+v, %v", sql, s, err)
			}
			if again := s.WithOutput("INTO OUTFILE 'x'", "CSV"); sqlguard.Check(again) == nil {
				t.Fatalf("%q hides an OUTFILE", again)
			}
		}
		for _, complete := range []bool{true, false} {
			in, err := sqlguard.ParseInsert(sql, complete)
			if err == nil && (in.Data > len(sql) || in.Format == "" || !strings.HasPrefix(sql, in.Head)) {
				t.Fatalf("%q: %+v", sql, in)
			}
		}
	})
}
