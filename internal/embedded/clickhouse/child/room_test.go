package child

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A disk that was full refuses writes until the process ends, and the process ends once there is room.
func TestAFullDiskEndsTheProcessWhenItHasRoom(t *testing.T) {
	var free atomic.Int64
	free.Store(10 * reserve)
	r := newRoom("somewhere", slog.New(slog.DiscardHandler))
	r.free = func(string) (int64, error) { return free.Load(), nil }
	if err := r.check(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	done := make(chan struct{})
	go func() { defer close(done); r.watch(ctx, func(err error) { ended <- err }) }()
	free.Store(reserve - 1)
	for r.check() == nil {
		time.Sleep(time.Millisecond)
	}
	free.Store(reserve + 1) // not enough to begin again
	time.Sleep(3 * lookEvery)
	if err := r.check(); err == nil || !strings.Contains(err.Error(), strconv.Itoa(again)) {
		t.Errorf("with hardly any room: %v", err)
	}
	select {
	case err := <-ended:
		t.Fatalf("ended with hardly any room: %v", err)
	default:
	}
	free.Store(10 * reserve)
	select {
	case err := <-ended:
		if !errors.Is(err, errRoom) {
			t.Error(err)
		}
	case <-ctx.Done():
		t.Error("it does not end")
	}
	if r.check() == nil {
		t.Error("writes are taken by an engine that may hold broken parts")
	}
	<-done
}

func TestFreeBytes(t *testing.T) {
	free, err := freeBytes(t.TempDir())
	if err != nil || free <= 0 {
		t.Errorf("%d bytes free, %v", free, err)
	}
}
