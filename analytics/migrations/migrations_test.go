package migrations_test

import (
	"errors"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"go.uber.org/goleak"

	"github.com/seed256f7767/spade/analytics/migrations"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/clickhousetest"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/tables"
)

func TestMain(m *testing.M) {
	clickhousetest.Child()
	goleak.VerifyTestMain(m)
}

func TestInstall(t *testing.T) {
	conn := olaptest.Open(t, clickhousetest.Start(t))
	ctx := t.Context()
	install := func() {
		t.Helper()
		if err := migrations.Install(ctx, conn); err != nil {
			t.Fatal(err)
		}
	}
	count := func() uint64 {
		return olaptest.Value[uint64](t, conn, "SELECT count() FROM system.tables WHERE database = 'spade'")
	}
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			if err := migrations.Install(ctx, conn); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	all := count()
	catalogue, err := tables.New()
	if err != nil {
		t.Fatal(err)
	}
	if want := len(catalogue.Tables) + len(catalogue.Views); int(all) != want {
		t.Errorf("%d tables and views, want %d", all, want)
	}
	t.Run("interrupted", func(t *testing.T) {
		for _, sql := range []string{"TRUNCATE TABLE spade._schema", "DROP TABLE spade.steps", "DROP VIEW spade.runs"} {
			if err := conn.Exec(ctx, sql); err != nil {
				t.Fatal(err)
			}
		}
		install()
		if got := count(); got != all {
			t.Errorf("%d tables and views, want %d", got, all)
		}
	})
	t.Run("other version", func(t *testing.T) {
		if err := conn.Exec(ctx, "INSERT INTO spade._schema (version) VALUES (99)"); err != nil {
			t.Fatal(err)
		}
		var other *migrations.VersionError
		err := migrations.Install(ctx, conn)
		if !errors.As(err, &other) || other.Have != 99 || other.Want != tables.SchemaVersion {
			t.Fatalf("error %v", err)
		}
		if !strings.Contains(err.Error(), "version 99") || !strings.Contains(err.Error(), "newer program") {
			t.Errorf("unclear: %v", err)
		}
	})
}

// A warehouse that version 1 made has, after Install, the columns in the order that a new one has.
func TestAnOlderWarehouseIsBroughtUp(t *testing.T) {
	conn := olaptest.Open(t, clickhousetest.Start(t))
	ctx := t.Context()
	old, err := os.ReadFile("testdata/v1.sql")
	if err != nil {
		t.Fatal(err)
	}
	for statement := range strings.SplitSeq(string(old), ";\n\n") {
		if strings.TrimSpace(statement) == "" {
			continue
		}
		if err := conn.Exec(ctx, statement); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Exec(ctx, "INSERT INTO spade._schema (version) VALUES (1)"); err != nil {
		t.Fatal(err)
	}
	columns := func() []string {
		t.Helper()
		if err := migrations.Install(ctx, conn); err != nil {
			t.Fatal(err)
		}
		return olaptest.Value[[]string](t, conn, "SELECT groupArray(x) FROM (SELECT concat(table, '.', name, ' ', type) AS x "+
			"FROM system.columns WHERE database = 'spade' ORDER BY table, position)")
	}
	upgraded := columns()
	if again := columns(); !slices.Equal(again, upgraded) {
		t.Error("installed again, it differs")
	}
	if err := conn.Exec(ctx, "DROP DATABASE spade SYNC"); err != nil {
		t.Fatal(err)
	}
	fresh := columns()
	for _, c := range fresh {
		if !slices.Contains(upgraded, c) {
			t.Errorf("the older warehouse lacks %s", c)
		}
	}
	if !slices.Equal(upgraded, fresh) {
		t.Errorf("upgraded %d columns, fresh %d, or in another order", len(upgraded), len(fresh))
	}
}
