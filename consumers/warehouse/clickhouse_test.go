package warehouse_test

import (
	"fmt"
	"testing"

	"github.com/seed256f7767/spade/consumers/warehouse"
	"github.com/seed256f7767/spade/internal/olap/olaptest"
	"github.com/seed256f7767/spade/schemas/tables"
)

func TestTablesOnServer(t *testing.T) {
	_, conn := olaptest.Start(t)
	olaptest.Install(t, conn) // again: nothing happens
	catalogue, err := tables.New()
	if err != nil {
		t.Fatal(err)
	}
	want := len(catalogue.Tables) + len(catalogue.Views)
	if got := olaptest.Value[uint64](t, conn, "SELECT count() FROM system.tables WHERE database = 'spade' AND comment != ''"); int(got) != want {
		t.Errorf("%d tables and views with a comment, want %d", got, want)
	}
	if bare := olaptest.Value[uint64](t, conn, "SELECT count() FROM system.columns WHERE database = 'spade' AND comment = ''"); bare != 0 {
		t.Errorf("%d columns without a comment", bare)
	}
	for _, v := range catalogue.Views {
		n := olaptest.Value[uint64](t, conn, fmt.Sprintf("SELECT count() FROM (SELECT * FROM spade.%s)", v.Name))
		if n != 0 {
			t.Errorf("%s has %d rows", v.Name, n)
		}
	}
	_ = warehouse.Group
}
