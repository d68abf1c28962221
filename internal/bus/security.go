package bus

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/segmentio/kafka-go/sasl"
	"github.com/segmentio/kafka-go/sasl/plain"
	"github.com/segmentio/kafka-go/sasl/scram"
)

// mechanism returns the login, or nil for none.
func (c Config) mechanism() (sasl.Mechanism, error) {
	switch c.Mechanism {
	case "":
		return nil, nil
	case "PLAIN":
		return plain.Mechanism{Username: c.User, Password: c.Password.Reveal()}, nil
	case "SCRAM-SHA-256":
		return scram.Mechanism(scram.SHA256, c.User, c.Password.Reveal())
	case "SCRAM-SHA-512":
		return scram.Mechanism(scram.SHA512, c.User, c.Password.Reveal())
	default:
		return nil, fmt.Errorf("kafka: SASL mechanism %q is none of PLAIN, SCRAM-SHA-256, SCRAM-SHA-512", c.Mechanism)
	}
}

// Load reads the certificates; nil means plain text.
func (t TLS) Load() (*tls.Config, error) {
	if !t.Enabled {
		return nil, nil
	}
	cfg := &tls.Config{MinVersion: tls.VersionTLS12, ServerName: t.ServerName}
	if t.CAFile != "" {
		pem, err := os.ReadFile(t.CAFile)
		if err != nil {
			return nil, fmt.Errorf("read kafka CA file: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("kafka CA file %s holds no certificate", t.CAFile)
		}
	}
	if t.CertFile != "" {
		cert, err := tls.LoadX509KeyPair(t.CertFile, t.KeyFile)
		if err != nil {
			return nil, fmt.Errorf("kafka client certificate %s with key %s: %w", t.CertFile, t.KeyFile, err)
		}
		cfg.Certificates = []tls.Certificate{cert}
	}
	return cfg, nil
}
