// Package security tests the program as its users run it: that no secret of theirs is found where it has no business, and
// that nobody's events become another run's.
package security
