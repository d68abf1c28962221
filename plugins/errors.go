package plugins

import (
	"errors"
	"fmt"
	"time"

	"github.com/seed256f7767/spade/internal/policy"
)

// Classes of errors that a plugin answers with, for errors.Is. The types below carry the particulars, for errors.As.
var (
	ErrPermanent        = errors.New("permanent plugin error")
	ErrRetryAfter       = errors.New("plugin asks to retry")
	ErrVersionNotLoaded = policy.ErrVersionNotLoaded
	ErrInvalidBatch     = errors.New("invalid batch")
)

// PermanentError will come again for the same input.
type PermanentError struct{ Message string }

func (e *PermanentError) Error() string { return e.Message }

// Is makes errors.Is(err, ErrPermanent) true.
func (e *PermanentError) Is(target error) bool { return target == ErrPermanent }

// RetryAfterError goes away by itself.
type RetryAfterError struct {
	After   time.Duration
	Message string
}

func (e *RetryAfterError) Error() string {
	return fmt.Sprintf("%s (retry after %s)", e.Message, e.After)
}

// Is makes errors.Is(err, ErrRetryAfter) true.
func (e *RetryAfterError) Is(target error) bool { return target == ErrRetryAfter }

// VersionNotLoadedError names the policy version that is missing and those that are there.
type VersionNotLoadedError struct {
	Version int64
	Loaded  []int64
}

func (e *VersionNotLoadedError) Error() string {
	return fmt.Sprintf("policy version %d is not loaded, only %v", e.Version, e.Loaded)
}

// Is makes errors.Is(err, ErrVersionNotLoaded) true.
func (e *VersionNotLoadedError) Is(target error) bool { return target == ErrVersionNotLoaded }

// InvalidBatchError names the row (-1: the batch as a whole) and column that a plugin cannot learn from.
type InvalidBatchError struct {
	Row     int64
	Column  string
	Message string
}

func (e *InvalidBatchError) Error() string {
	at := ""
	if e.Row >= 0 {
		at = fmt.Sprintf(" row %d", e.Row)
	}
	if e.Column != "" {
		at += " column " + e.Column
	}
	return "invalid batch" + at + ": " + e.Message
}

// Is makes errors.Is(err, ErrInvalidBatch) true.
func (e *InvalidBatchError) Is(target error) bool { return target == ErrInvalidBatch }
