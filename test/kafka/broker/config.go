package broker

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Superuser is the SASL user whom no ACL limits.
const Superuser = "admin"

// Config is what a cluster is made of.
type Config struct {
	// Jars is the folder of Kafka's jars. Required.
	Jars string
	// Dir holds the nodes' files. Required.
	Dir string
	// Nodes is how many brokers there are; each is a controller as well. Default 1.
	Nodes int
	// Users are the passwords of the SASL users, for PLAIN and both SCRAM mechanisms. Superuser must be among them.
	Users map[string]string
	// TLS has the listeners with TLS. Empty leaves them out.
	TLS TLS
	// Properties are added to every node's server.properties.
	Properties map[string]string
	// AllowAll lets every user do what no ACL speaks of.
	AllowAll bool
}

// TLS is the files of a cluster's certificate.
type TLS struct {
	// KeyStore holds the broker's key in PKCS #8 and its certificates, CA the certificates of clients to trust; all in PEM.
	KeyStore, CA string
}

// Validate names every problem.
func (c Config) Validate() error {
	var errs []error
	jars, err := filepath.Glob(filepath.Join(c.Jars, "kafka_2.13-*.jar"))
	if err != nil || len(jars) != 1 {
		errs = append(errs, fmt.Errorf("there is no broker in %q: run make test-kafka", c.Jars))
	}
	if info, err := os.Stat(c.Dir); err != nil || !info.IsDir() {
		errs = append(errs, fmt.Errorf("folder %q does not exist", c.Dir))
	}
	if c.Users[Superuser] == "" {
		errs = append(errs, fmt.Errorf("user %s has no password", Superuser))
	}
	if (c.TLS.KeyStore == "") != (c.TLS.CA == "") {
		errs = append(errs, errors.New("TLS needs both a key store and a CA"))
	}
	return errors.Join(errs...)
}
