package plugins

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

func TestErrorClassesCrossTheWire(t *testing.T) {
	cases := map[string]struct {
		err   error
		class error
		want  error
	}{
		"permanent":  {&PermanentError{Message: "no such device"}, ErrPermanent, &PermanentError{Message: "no such device"}},
		"plain":      {errors.New("plain"), ErrPermanent, &PermanentError{Message: "plain"}},
		"retry":      {&RetryAfterError{After: time.Second, Message: "busy"}, ErrRetryAfter, nil},
		"not loaded": {&VersionNotLoadedError{Version: 7, Loaded: []int64{1, 2}}, ErrVersionNotLoaded, &VersionNotLoadedError{Version: 7, Loaded: []int64{1, 2}}},
		"wrapped":    {fmt.Errorf("train: %w", &VersionNotLoadedError{Version: 7}), ErrVersionNotLoaded, &VersionNotLoadedError{Version: 7}},
		"invalid":    {&InvalidBatchError{Row: 3, Column: "role", Message: "x"}, ErrInvalidBatch, nil},
		"cancelled":  {fmt.Errorf("step: %w", context.Canceled), context.Canceled, context.Canceled},
		"deadline":   {context.DeadlineExceeded, context.DeadlineExceeded, context.DeadlineExceeded},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			got := FromStatus(ToStatus(c.err))
			if !errors.Is(got, c.class) {
				t.Fatalf("got %v, want class %v", got, c.class)
			}
			if c.want != nil && !reflect.DeepEqual(got, c.want) {
				t.Errorf("got %#v, want %#v", got, c.want)
			}
		})
	}
}

func TestStatusWithoutDetailStays(t *testing.T) {
	if ToStatus(nil) != nil || FromStatus(nil) != nil {
		t.Error("no error became one")
	}
	err := status.Error(codes.Unavailable, "gone")
	if got := FromStatus(err); status.Code(got) != codes.Unavailable {
		t.Errorf("got %v", got)
	}
}
