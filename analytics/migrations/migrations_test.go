package migrations_test

import (
	"errors"
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
