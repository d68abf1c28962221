package vector

import (
	"context"
	"errors"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// Classes of errors, for errors.Is.
var (
	// ErrUnavailable: the store does not answer; the same call may succeed later.
	ErrUnavailable = errors.New("vector store is not available")
	// ErrUnauthorized: the store refuses the API key.
	ErrUnauthorized = errors.New("vector store refuses the API key")
	// ErrNotFound: there is no such collection or point.
	ErrNotFound = errors.New("not found in the vector store")
	// ErrRejected: the store will never take this request as it is.
	ErrRejected = errors.New("vector store rejects the request")
	// ErrFull: the store has no memory or disk space left.
	ErrFull = errors.New("vector store is full")
)

// WrongVersionError reports a server that this client must not be used with.
type WrongVersionError struct {
	Addr string
	// Server is the version it reported, Client the one this program speaks.
	Server, Client string
}

// Error implements error.
func (e *WrongVersionError) Error() string {
	return fmt.Sprintf("vector store at %s is Qdrant %s; this program needs the same major version as %s and a minor one apart at most",
		e.Addr, e.Server, e.Client)
}

// DimensionError reports a vector of another size than its collection holds.
type DimensionError struct {
	Collection string
	Want, Got  int
}

// Error implements error.
func (e *DimensionError) Error() string {
	return fmt.Sprintf("collection %s holds vectors of %d, got one of %d", e.Collection, e.Want, e.Got)
}

// MismatchError reports an existing collection that is not the one wanted.
type MismatchError struct {
	Collection, Reason string
}

// Error implements error.
func (e *MismatchError) Error() string {
	return fmt.Sprintf("collection %s exists and is not usable: %s", e.Collection, e.Reason)
}

// classify wraps an error of a request with the class it belongs to.
func classify(op string, err error) error {
	if err == nil {
		return nil
	}
	var class error
	switch status.Code(err) {
	case codes.Unavailable, codes.Aborted:
		class = ErrUnavailable
	case codes.Unauthenticated, codes.PermissionDenied:
		class = ErrUnauthorized
	case codes.NotFound:
		class = ErrNotFound
	case codes.InvalidArgument, codes.Unimplemented, codes.FailedPrecondition, codes.OutOfRange, codes.AlreadyExists:
		class = ErrRejected
	case codes.ResourceExhausted:
		class = ErrFull
	case codes.DeadlineExceeded:
		return fmt.Errorf("%s: %w: %w", op, ErrUnavailable, context.DeadlineExceeded)
	case codes.Canceled:
		return fmt.Errorf("%s: %w", op, context.Canceled)
	default:
		return fmt.Errorf("%s: %w", op, err)
	}
	return fmt.Errorf("%s: %w: %w", op, class, err)
}
