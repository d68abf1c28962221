package kafka

import (
	"path/filepath"
	"testing"

	"github.com/seed256f7767/spade/internal/bus/bustest"
	"github.com/seed256f7767/spade/test/kafka/broker"
	"github.com/seed256f7767/spade/test/kafka/pki"
)

func TestConnectionsAreSecuredAndWhatIsWrongIsNamed(t *testing.T) {
	n := cluster(t).Nodes[0]
	stranger, err := pki.Write(filepath.Join(t.TempDir(), "stranger"), "127.0.0.1")
	must(t, err)
	bustest.CheckSecure(t, bustest.Secure{
		Login: n.Addr(broker.SASL), TLS: n.Addr(broker.SASLTLS), Mutual: n.Addr(broker.MutualTLS), Open: n.Addr(broker.Plain),
		CA: three.certs.CA, Cert: three.certs.Client, Key: three.certs.ClientKey,
		StrangerCA: stranger.CA, StrangerCert: stranger.Client, StrangerKey: stranger.ClientKey,
		User: broker.Superuser, Password: password,
	})
}
