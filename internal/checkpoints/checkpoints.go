// Package checkpoints keeps policy states that are too large for the log, each under the SHA-256 of its content: in a
// folder, or in a bucket of an object store. Begin with Open.
package checkpoints

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strings"
)

// Errors, for errors.Is.
var (
	// ErrLocation says that a location cannot be used as it is.
	ErrLocation = errors.New("checkpoint location")
	// ErrMissing says that the store has no such state.
	ErrMissing = errors.New("no such checkpoint")
	// ErrCorrupt says that a state is not what its name says.
	ErrCorrupt = errors.New("checkpoint is corrupt")
	// ErrDenied says that the store does not let this program do what it must.
	ErrDenied = errors.New("checkpoint store denies access")
	// ErrUnavailable says that the store did not answer, however often it was asked.
	ErrUnavailable = errors.New("checkpoint store is not available")
)

// Store keeps states. It may be used concurrently, and by several processes of several machines at once.
type Store interface {
	// Save stores a state, durably, and says where it is. Saving one again changes nothing, unless what is stored is
	// damaged: then it is mended. sum is the state's SHA-256; the state stays the caller's.
	Save(ctx context.Context, sum [sha256.Size]byte, state []byte) (uri string, err error)
	// Load reads the state of that SHA-256 and size and checks it: one of another size is not read. The error wraps
	// ErrMissing, ErrCorrupt, ErrDenied, ErrUnavailable or ErrLocation.
	Load(ctx context.Context, sum []byte, size int64) ([]byte, error)
}

// scheme begins the location of a bucket.
const scheme = "s3://"

// Open makes the store at a location: a folder, which is created when missing, or s3://BUCKET/PREFIX, which is reached as s
// says. It does not connect.
func Open(location string, s S3) (Store, error) {
	dir := strings.TrimPrefix(location, "file://")
	switch {
	case strings.HasPrefix(location, scheme):
		return newBucket(location, s)
	case dir == "":
		return nil, fmt.Errorf("%w: empty", ErrLocation)
	case strings.Contains(dir, "://"):
		return nil, fmt.Errorf("%w: give a folder or s3://BUCKET/PREFIX", ErrLocation)
	}
	return openFolder(dir)
}
