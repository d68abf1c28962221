package crash

import (
	"testing"

	"github.com/seed256f7767/spade/test/processes"
)

// find lists the processes of a kind that belong to a data folder or to a client.
func find(t *testing.T, data, victim string, client int) []int {
	t.Helper()
	all, err := processes.All()
	if err != nil {
		t.Fatal(err)
	}
	supervisor := all.Supervisor(data)
	switch victim {
	case "client":
		return []int{client}
	case "supervisor":
		if supervisor != 0 {
			return []int{supervisor}
		}
		return nil
	case "clickhouse":
		return all.Below(supervisor, processes.Clickhouse)
	case "plugin":
		return all.Below(client, processes.Plugin)
	case "worker":
		return all.Below(client, processes.Sandbox)
	}
	t.Fatalf("nothing is called %q", victim)
	return nil
}
