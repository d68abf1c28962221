package clickhouse_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	embedded "github.com/seed256f7767/spade/internal/embedded/clickhouse"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
)

// TestEmptyDefinitionOfData: a table whose definition a full disk left empty comes back with its rows, or the folder is refused.
func TestEmptyDefinitionOfData(t *testing.T) {
	dir := t.TempDir()
	run := func(statements ...string) (last string) {
		s := clickhousetest.StartIn(t, dir)
		for _, sql := range statements {
			last = newClient(t, s).must(sql)
		}
		shutdown(t, s)
		return last
	}
	empty := func(table string) {
		t.Helper()
		names, err := filepath.Glob(filepath.Join(dir, "data", "store", "*", "*", table+".sql"))
		if err != nil || len(names) != 1 {
			t.Fatalf("definitions %v, %v", names, err)
		}
		if err := os.WriteFile(names[0], nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run("CREATE TABLE kept (a Int8) ENGINE = MergeTree ORDER BY a", "INSERT INTO kept VALUES (1)")
	run("ALTER TABLE kept MODIFY SETTING parts_to_throw_insert = 3000")
	empty("kept")
	if got := run("SELECT count() FROM kept"); got != "1" {
		t.Errorf("%s rows", got)
	}

	run("CREATE TABLE fresh (a Int8) ENGINE = MergeTree ORDER BY a", "INSERT INTO fresh VALUES (1)")
	empty("fresh")
	s, err := embedded.New(clickhousetest.Config(dir), embedded.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	defer shutdown(t, s)
	if err := s.Start(t.Context()); !errors.Is(err, embedded.ErrFolder) || !strings.Contains(err.Error(), "fresh.sql") {
		t.Errorf("a table that has lost its definition: %v", err)
	}
}
