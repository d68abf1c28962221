package olap

import (
	"context"
	"errors"
	"net/http"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/seed256f7767/spade/internal/trust"
)

// ErrLogin: the server refuses user or password.
var ErrLogin = errors.New("login refused")

// Codes of the server's errors that the program reacts to.
const (
	CodeUnknownTable    = 60
	CodeUnknownDatabase = 81
	CodeThrowIf         = 395
	CodeDiskFull        = 243

	// CodeViolatedConstraint is what a table answers to rows that its constraints forbid.
	CodeViolatedConstraint = 469
)

// Code is the server's error code, or 0 when the error did not come from the server's answer.
func Code(err error) int {
	var e *clickhouse.Exception
	if errors.As(err, &e) {
		return int(e.Code)
	}
	return 0
}

// Transient reports whether the same statement may succeed later: no answer came, or the server is busy, short of room or
// going down. When no answer came the statement may have been executed.
func Transient(err error) bool {
	if err == nil || errors.Is(err, context.Canceled) || trust.Is(err) || errors.Is(err, trust.ErrRedirect) {
		return false
	}
	switch Code(err) {
	case 0:
		return !final(err)
	case 159, // TIMEOUT_EXCEEDED
		202,      // TOO_MANY_SIMULTANEOUS_QUERIES
		203,      // NO_FREE_CONNECTION
		209, 210, // SOCKET_TIMEOUT, NETWORK_ERROR
		236,          // ABORTED
		241,          // MEMORY_LIMIT_EXCEEDED
		242,          // TABLE_IS_READ_ONLY
		252,          // TOO_MANY_PARTS
		319,          // UNKNOWN_STATUS_OF_INSERT
		394,          // QUERY_WAS_CANCELLED
		CodeDiskFull: // NOT_ENOUGH_SPACE
		return true
	}
	return false
}

// final reports an answer over HTTP that is not the warehouse's own and will be the same next time: of a proxy that wants a
// login, or of a server that is something else.
func final(err error) bool {
	e, ok := errors.AsType[*clickhouse.HTTPError](err)
	return ok && e.StatusCode >= 400 && e.StatusCode < 500 &&
		e.StatusCode != http.StatusRequestTimeout && e.StatusCode != http.StatusTooManyRequests
}

// refused reports that the server, or a proxy before it, does not take user and password.
func refused(err error) bool {
	switch Code(err) {
	case 192, // UNKNOWN_USER
		193, // WRONG_PASSWORD
		194, // REQUIRED_PASSWORD
		516: // AUTHENTICATION_FAILED
		return true
	}
	e, ok := errors.AsType[*clickhouse.HTTPError](err)
	return ok && (e.StatusCode == http.StatusUnauthorized || e.StatusCode == http.StatusProxyAuthRequired)
}
