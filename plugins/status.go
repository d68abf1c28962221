package plugins

import (
	"context"
	"errors"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// ToStatus turns an error into the gRPC status that carries its class. An error of no class is permanent; those of a
// context stay what they are.
func ToStatus(err error) error {
	if err == nil {
		return nil
	}
	if _, ok := status.FromError(err); ok {
		return err
	}
	switch {
	case errors.Is(err, context.Canceled):
		return status.Error(codes.Canceled, err.Error())
	case errors.Is(err, context.DeadlineExceeded):
		return status.Error(codes.DeadlineExceeded, err.Error())
	}
	code, failure := classify(err)
	st, detailErr := status.New(code, failure.Message).WithDetails(failure)
	if detailErr != nil {
		return status.Error(code, failure.Message)
	}
	return st.Err()
}

func classify(err error) (codes.Code, *pluginpb.Failure) {
	f := &pluginpb.Failure{Message: err.Error()}
	var retry *RetryAfterError
	var missing *VersionNotLoadedError
	var invalid *InvalidBatchError
	switch {
	case errors.As(err, &retry):
		f.Class = &pluginpb.Failure_RetryAfter{RetryAfter: &pluginpb.RetryAfter{Milliseconds: uint64(retry.After.Milliseconds())}}
		return codes.ResourceExhausted, f
	case errors.As(err, &missing):
		f.Class = &pluginpb.Failure_VersionNotLoaded{VersionNotLoaded: &pluginpb.VersionNotLoaded{Version: missing.Version, Loaded: missing.Loaded}}
		return codes.FailedPrecondition, f
	case errors.As(err, &invalid):
		f.Class = &pluginpb.Failure_InvalidBatch{InvalidBatch: &pluginpb.InvalidBatch{Row: invalid.Row, Column: invalid.Column}}
		return codes.InvalidArgument, f
	default:
		f.Class = &pluginpb.Failure_Permanent{Permanent: &pluginpb.Permanent{}}
		return codes.Unknown, f
	}
}

// FromStatus is the inverse of ToStatus. An error without a Failure detail comes back as it is, except for those of a
// context.
func FromStatus(err error) error {
	st, ok := status.FromError(err)
	if !ok || err == nil {
		return err
	}
	for _, d := range st.Details() {
		if f, ok := d.(*pluginpb.Failure); ok {
			return fromFailure(f)
		}
	}
	switch st.Code() {
	case codes.Canceled:
		return context.Canceled
	case codes.DeadlineExceeded:
		return context.DeadlineExceeded
	}
	return err
}

func fromFailure(f *pluginpb.Failure) error {
	switch c := f.Class.(type) {
	case *pluginpb.Failure_RetryAfter:
		return &RetryAfterError{After: time.Duration(c.RetryAfter.GetMilliseconds()) * time.Millisecond, Message: f.Message}
	case *pluginpb.Failure_VersionNotLoaded:
		return &VersionNotLoadedError{Version: c.VersionNotLoaded.GetVersion(), Loaded: c.VersionNotLoaded.GetLoaded()}
	case *pluginpb.Failure_InvalidBatch:
		return &InvalidBatchError{Row: c.InvalidBatch.GetRow(), Column: c.InvalidBatch.GetColumn(), Message: f.Message}
	default:
		return &PermanentError{Message: f.Message}
	}
}
