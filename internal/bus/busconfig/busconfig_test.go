package busconfig_test

import (
	"reflect"
	"testing"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/bus/busconfig"
	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/secret"
)

func TestEverySettingReachesTheBus(t *testing.T) {
	got := busconfig.From(config.Kafka{
		Brokers: []string{"a:1"}, User: "me", Password: secret.New("p"), SASL: "scram-sha-512", TLS: true, CA: "ca", Cert: "cert",
		Key: "key", Prefix: "team.", Replication: 3,
	})
	want := bus.Config{
		Brokers: []string{"a:1"}, User: "me", Password: secret.New("p"), Mechanism: "SCRAM-SHA-512", Prefix: "team.", Replication: 3,
		TLS: bus.TLS{Enabled: true, CAFile: "ca", CertFile: "cert", KeyFile: "key"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := busconfig.From(config.Kafka{User: "me"}); !reflect.DeepEqual(got, bus.Config{}) {
		t.Errorf("without brokers: %+v", got)
	}
}

func TestAUserAloneLogsInByPlain(t *testing.T) {
	for want, k := range map[string]config.Kafka{
		"": {}, "PLAIN": {User: "u"}, "SCRAM-SHA-512": {User: "u", SASL: "scram-sha-512"},
	} {
		k.Brokers = []string{"a:1"}
		if got := busconfig.From(k).Mechanism; got != want {
			t.Errorf("%+v: %s", k, got)
		}
	}
}
