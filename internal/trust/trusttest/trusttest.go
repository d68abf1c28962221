// Package trusttest makes certificates for tests and puts TLS in front of servers that have none.
//
// Begin with NewCA and Front.
package trusttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"
)

// CA is an authority that only a test trusts.
type CA struct {
	// File holds its certificate.
	File string
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
}

// NewCA makes one.
func NewCA(tb testing.TB) *CA {
	tb.Helper()
	key := newKey(tb)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority of a test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		tb.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		tb.Fatal(err)
	}
	ca := &CA{File: filepath.Join(tb.TempDir(), "ca.pem"), cert: cert, key: key}
	if err := os.WriteFile(ca.File, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		tb.Fatal(err)
	}
	return ca
}

func newKey(tb testing.TB) *ecdsa.PrivateKey {
	tb.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		tb.Fatal(err)
	}
	return key
}

// Server is a certificate for hosts, names or IP addresses, that ends then.
func (ca *CA) Server(tb testing.TB, ends time.Time, hosts ...string) tls.Certificate {
	tb.Helper()
	key := newKey(tb)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: "a server of a test"},
		NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: ends,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, KeyUsage: x509.KeyUsageDigitalSignature,
	}
	for _, h := range hosts {
		if ip := net.ParseIP(h); ip != nil {
			template.IPAddresses = append(template.IPAddresses, ip)
		} else {
			template.DNSNames = append(template.DNSNames, h)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, ca.cert, &key.PublicKey, ca.key)
	if err != nil {
		tb.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// Now is a certificate for 127.0.0.1 and localhost that is valid.
func (ca *CA) Now(tb testing.TB) tls.Certificate {
	tb.Helper()
	return ca.Server(tb, time.Now().Add(time.Hour), "127.0.0.1", "localhost")
}

// Front puts TLS in front of the plain server at addr, until the test ends, and is where it answers.
func Front(tb testing.TB, cert tls.Certificate, addr string, protocols ...string) string {
	tb.Helper()
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{
		Certificates: []tls.Certificate{cert}, MinVersion: tls.VersionTLS12, NextProtos: protocols,
	})
	if err != nil {
		tb.Fatal(err)
	}
	f := &front{to: addr, open: map[net.Conn]struct{}{}}
	f.wg.Go(func() { f.serve(l) })
	tb.Cleanup(func() {
		_ = l.Close() // ends serve
		f.closeAll()
		f.wg.Wait()
	})
	return l.Addr().String()
}

type front struct {
	to string
	wg sync.WaitGroup

	mu   sync.Mutex // guards the following
	open map[net.Conn]struct{}
	done bool
}

func (f *front) serve(l net.Listener) {
	for {
		client, err := l.Accept()
		if err != nil {
			return
		}
		f.wg.Go(func() { f.forward(client) })
	}
}

// forward moves bytes both ways until either side ends.
func (f *front) forward(client net.Conn) {
	defer f.forget(client)
	if !f.remember(client) {
		return
	}
	if err := client.(*tls.Conn).Handshake(); err != nil {
		return
	}
	server, err := net.Dial("tcp", f.to)
	if err != nil {
		return
	}
	defer f.forget(server)
	if !f.remember(server) {
		return
	}
	var both sync.WaitGroup
	for _, way := range [][2]net.Conn{{client, server}, {server, client}} {
		both.Go(func() {
			_, err := io.Copy(way[0], way[1])
			_ = errors.Join(err, way[0].Close(), way[1].Close()) // one way ending ends the other
		})
	}
	both.Wait()
}

func (f *front) remember(c net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.open[c] = struct{}{}
	return !f.done
}

func (f *front) forget(c net.Conn) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.open, c)
	_ = c.Close()
}

func (f *front) closeAll() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.done = true
	for c := range f.open {
		_ = c.Close()
	}
}
