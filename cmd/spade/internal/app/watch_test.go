package app

import (
	"context"
	"errors"
	"testing"
)

func TestARunEndsWhenAProjectionDoes(t *testing.T) {
	sinks, end := context.WithCancelCause(t.Context())
	s := &Services{sinksContext: sinks}
	roles, stop := context.WithCancel(t.Context())
	stop()
	if err := s.watchSinks(roles); err != nil {
		t.Errorf("the roles ended first: %v", err)
	}
	end(errors.New("no room"))
	if err := s.watchSinks(t.Context()); !errors.Is(err, errProjectionEnded) {
		t.Errorf("error %v", err)
	}
}
