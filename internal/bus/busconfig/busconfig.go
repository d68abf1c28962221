// Package busconfig turns the program's settings into those of the bus. Begin with From.
package busconfig

import (
	"strings"

	"github.com/seed256f7767/spade/internal/bus"
	"github.com/seed256f7767/spade/internal/config"
)

// From is how the cluster of the settings is reached. Without brokers there is none.
func From(k config.Kafka) bus.Config {
	if len(k.Brokers) == 0 {
		return bus.Config{}
	}
	return bus.Config{
		Brokers: k.Brokers, Prefix: k.Prefix, Replication: k.Replication,
		Mechanism: mechanism(k), User: k.User, Password: k.Password,
		TLS: bus.TLS{Enabled: k.TLS, CAFile: k.CA, CertFile: k.Cert, KeyFile: k.Key},
	}
}

// mechanism is Kafka's name of the SASL login: a user alone means PLAIN.
func mechanism(k config.Kafka) string {
	if k.SASL == "" && k.User != "" {
		return "PLAIN"
	}
	return strings.ToUpper(k.SASL)
}
