package trust

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"
)

// Classes of what goes wrong with TLS, for errors.Is.
var (
	// ErrUnknownCA: nobody who is trusted has signed the server's certificate.
	ErrUnknownCA = errors.New("certificate of an unknown authority")
	// ErrOtherHost: the certificate is another host's.
	ErrOtherHost = errors.New("certificate of another host")
	// ErrExpired: the certificate is not valid now.
	ErrExpired = errors.New("certificate is not valid now")
	// ErrPlainServer: the server does not speak TLS.
	ErrPlainServer = errors.New("server speaks no TLS")
	// ErrTLSServer: the server speaks TLS and is asked without.
	ErrTLSServer = errors.New("server speaks TLS only")
	// ErrHandshake: any other reason.
	ErrHandshake = errors.New("no TLS session")
)

// Error is a server that is not spoken to.
type Error struct {
	// Addr is the server's, Remedy what its user can do.
	Addr, Remedy string
	class, cause error
}

// Error says what is wrong and what to do.
func (e *Error) Error() string {
	s := fmt.Sprintf("%s: %v", e.Addr, e.class)
	if e.cause != nil {
		s += fmt.Sprintf(" (%v)", e.cause)
	}
	return s + ": " + e.Remedy
}

// Unwrap is the class and the cause.
func (e *Error) Unwrap() []error {
	if e.cause == nil {
		return []error{e.class}
	}
	return []error{e.class, e.cause}
}

// Names are the settings that an Error's remedy speaks of.
type Names struct {
	CA    string // of the file of certificates; empty: there is no such setting
	Plain string // how to say that a server has no TLS, as "use http:// in clickhouse.url"
	TLS   string // how to say that it has
}

// Explain is err as an *Error when TLS is what failed; nil when it is something else.
func Explain(addr string, names Names, err error) error {
	explained := func(class error, remedy string) error {
		return &Error{Addr: addr, Remedy: remedy, class: class, cause: short(err)}
	}
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		remedy := "have the system trust the authority that signed it"
		if names.CA != "" {
			remedy = "set " + names.CA + " to the file of the certificate of the authority that signed it"
		}
		return explained(ErrUnknownCA, remedy)
	}
	if _, ok := errors.AsType[x509.HostnameError](err); ok {
		return explained(ErrOtherHost, "use a name in the address that the certificate has, or a certificate that has this name")
	}
	if e, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if e.Reason == x509.Expired {
			return explained(ErrExpired, "renew the server's certificate, or set this machine's clock")
		}
		return explained(ErrHandshake, "have another certificate made for the server")
	}
	if _, ok := errors.AsType[tls.RecordHeaderError](err); ok || strings.Contains(err.Error(), "server gave HTTP response to HTTPS client") {
		return explained(ErrPlainServer, "give the port that the server speaks TLS on, or "+names.Plain)
	}
	if _, ok := errors.AsType[tls.AlertError](err); ok || certificate(err) {
		return explained(ErrHandshake, "see what the server accepts: versions and client certificates")
	}
	return nil
}

func certificate(err error) bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return ok
}

// short is the innermost cause that says why, without what it was wrapped in: addresses may hold more than a place.
func short(err error) error {
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return e.Err
	}
	if e, ok := errors.AsType[tls.RecordHeaderError](err); ok {
		return errors.New(e.Msg)
	}
	if e, ok := errors.AsType[tls.AlertError](err); ok {
		return e
	}
	return nil
}

// probeTimeout bounds the look at what a server speaks.
const probeTimeout = 2 * time.Second

// SpeaksTLS is an *Error when the server at addr, which was asked in plain text without success, answers to TLS; nil when
// it does not, or cannot be reached. Nothing is told to the server, and it is not believed in anything.
func SpeaksTLS(ctx context.Context, addr string, names Names) error {
	ctx, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	d := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS12}} //nolint:gosec // only whether it answers
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		if _, alert := errors.AsType[tls.AlertError](err); !alert {
			return nil
		}
	} else if err := conn.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return nil
	}
	return &Error{Addr: addr, Remedy: names.TLS, class: ErrTLSServer}
}

// Is reports whether an error is of a server that is not spoken to: trying again does not help.
func Is(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}
