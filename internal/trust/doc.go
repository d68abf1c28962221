// Package trust is how this program's clients hold a TLS server to its certificate, and what they say when it fails.
//
// Begin with Config, which loads the certificates to trust, and Explain, which turns what a handshake failed with into an
// error that says what to do. Nothing here ever goes on without the check: a server that cannot be verified is not spoken
// to, and none is asked in plain text that was to be asked by TLS.
package trust
