//go:build linux

package chaos

import (
	"net/url"
	"strings"
	"testing"
)

// links are the relays through which a process reaches the servers.
type links struct {
	kafka      *kafkaRelay
	brokers    []string // as the process knows them
	clickhouse *relay
	warehouse  *warehouseProxy // behind the relay
	qdrant     *relay
}

func newLinks(t *testing.T, at servers, who func() string, l *ledger) *links {
	t.Helper()
	n := &links{kafka: newKafkaRelay(t)}
	for _, b := range at.brokers() {
		n.brokers = append(n.brokers, n.kafka.through(b).addr())
	}
	n.warehouse = newWarehouseProxy(t, at.env["SPADE_CLICKHOUSE_URL"], who, l)
	n.clickhouse = newRelay(t, n.warehouse.addr(), nil)
	n.qdrant = newRelay(t, at.env["SPADE_QDRANT_ADDR"], nil)
	return n
}

// env leads a process through the relays.
func (n *links) env(at servers) []string {
	path := ""
	if u, err := url.Parse(at.env["SPADE_CLICKHOUSE_URL"]); err == nil {
		path = u.Path
	}
	return at.environ(map[string]string{
		"SPADE_KAFKA_BROKERS":  strings.Join(n.brokers, ","),
		"SPADE_CLICKHOUSE_URL": "http://" + n.clickhouse.addr() + path,
		"SPADE_QDRANT_ADDR":    n.qdrant.addr(),
	})
}

// to are the relays to a service.
func (n *links) to(service string) []*relay {
	switch service {
	case "kafka":
		return n.kafka.all()
	case "clickhouse":
		return []*relay{n.clickhouse}
	}
	return []*relay{n.qdrant}
}

// used are the services that the process holds connections to.
func (n *links) used() (out []string) {
	for _, service := range []string{"kafka", "clickhouse", "qdrant"} {
		held := 0
		for _, r := range n.to(service) {
			held += r.held()
		}
		if held > 0 {
			out = append(out, service)
		}
	}
	return out
}
