package app

import (
	"context"
	"errors"
	"testing"
)

func TestARunEndsWhenAProjectionDoes(t *testing.T) {
	broken := errors.New("no room")
	sinks, end := context.WithCancelCause(t.Context())
	s := &Services{sinksContext: sinks}
	roles, stop := context.WithCancel(t.Context())
	stop()
	if err := s.watchSinks(roles); err != nil {
		t.Errorf("the roles ended first: %v", err)
	}
	end(broken)
	if err := s.watchSinks(t.Context()); !errors.Is(err, broken) {
		t.Errorf("error %v", err)
	}
}
