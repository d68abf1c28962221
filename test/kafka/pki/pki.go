// Package pki makes certificates for tests: an authority, and of it a server's and a client's certificate, in the PEM files
// that Kafka and Go read. Begin with Write, or with New for certificates that are wrong in some way.
package pki

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"time"
)

// Authority signs certificates.
type Authority struct {
	cert *x509.Certificate
	key  crypto.Signer
	PEM  []byte // its own certificate
}

// New makes an authority.
func New() (*Authority, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	tmpl := template("authority", time.Hour)
	tmpl.IsCA, tmpl.BasicConstraintsValid, tmpl.KeyUsage = true, true, x509.KeyUsageCertSign
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		return nil, err
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		return nil, err
	}
	return &Authority{cert: cert, key: key, PEM: block("CERTIFICATE", der)}, nil
}

// Certificate is a certificate and its key, both in PEM.
type Certificate struct{ Cert, Key []byte }

// Issue signs a certificate for a name, and for the hosts that it may stand for. One whose life is negative has expired.
func (a *Authority) Issue(name string, life time.Duration, hosts ...string) (Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return Certificate{}, err
	}
	tmpl := template(name, life)
	tmpl.KeyUsage = x509.KeyUsageDigitalSignature
	tmpl.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			tmpl.IPAddresses = append(tmpl.IPAddresses, ip)
			continue
		}
		tmpl.DNSNames = append(tmpl.DNSNames, h)
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, a.cert, key.Public(), a.key)
	if err != nil {
		return Certificate{}, err
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Certificate{}, err
	}
	return Certificate{Cert: block("CERTIFICATE", der), Key: block("PRIVATE KEY", private)}, nil
}

func template(name string, life time.Duration) *x509.Certificate {
	until := time.Now().Add(life)
	return &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name},
		NotBefore: until.Add(-48 * time.Hour), NotAfter: until,
	}
}

func block(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// Files are what Write has written.
type Files struct {
	CA                string
	ServerStore       string // key and certificate in one file, as Kafka reads them
	Server, ServerKey string
	Client, ClientKey string
}

// Write makes an authority, a server's certificate for the hosts, and one of a client that is called "client".
func Write(dir string, hosts ...string) (Files, error) {
	ca, err := New()
	if err != nil {
		return Files{}, err
	}
	return ca.Write(dir, hosts...)
}

// Write issues the certificates that the function of this name does.
func (a *Authority) Write(dir string, hosts ...string) (Files, error) {
	server, err := a.Issue("server", time.Hour, hosts...)
	if err != nil {
		return Files{}, err
	}
	client, err := a.Issue("client", time.Hour)
	if err != nil {
		return Files{}, err
	}
	return a.write(dir, server, client)
}

func (a *Authority) write(dir string, server, client Certificate) (Files, error) {
	f := Files{}
	var errs []error
	put := func(to *string, name string, data ...[]byte) {
		*to = filepath.Join(dir, name)
		var all []byte
		for _, d := range data {
			all = append(all, d...)
		}
		errs = append(errs, os.WriteFile(*to, all, 0o600))
	}
	errs = append(errs, os.MkdirAll(dir, 0o700))
	put(&f.CA, "ca.pem", a.PEM)
	put(&f.ServerStore, "server-store.pem", server.Key, server.Cert)
	put(&f.Server, "server.pem", server.Cert)
	put(&f.ServerKey, "server-key.pem", server.Key)
	put(&f.Client, "client.pem", client.Cert)
	put(&f.ClientKey, "client-key.pem", client.Key)
	if err := errors.Join(errs...); err != nil {
		return Files{}, fmt.Errorf("write certificates: %w", err)
	}
	return f, nil
}
