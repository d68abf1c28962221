package chdblib

import "errors"

// Classes of failure, for errors.Is. Each error's text says what to do.
var (
	// ErrMissing: the library is nowhere to be found.
	ErrMissing = errors.New("the ClickHouse engine (libchdb) is not installed")
	// ErrUnsupported: this platform has no library.
	ErrUnsupported = errors.New("the embedded ClickHouse does not run on this platform")
	// ErrNoNPM: npm, which fetches the library, is missing.
	ErrNoNPM = errors.New("npm is not installed")
	// ErrDiskFull: the cache folder has no room for it.
	ErrDiskFull = errors.New("not enough disk space")
)
