//go:build unix

package installing

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
)

func TestLockIsHeldByOne(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.lock")
	unlock, err := Lock(t.Context(), path, func() { t.Error("waited for nobody") })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	waited := 0
	if _, err := Lock(ctx, path, func() { waited++; cancel() }); !errors.Is(err, context.Canceled) || waited != 1 {
		t.Errorf("second lock: %v after %d notices", err, waited)
	}
	unlock()
	again, err := Lock(t.Context(), path, func() { t.Error("waited for a lock that was given back") })
	if err != nil {
		t.Fatal(err)
	}
	again()
}

func TestFreeBytes(t *testing.T) {
	if free, known := FreeBytes(t.TempDir()); !known || free <= 0 {
		t.Errorf("free %d, known %v", free, known)
	}
	if _, known := FreeBytes("/nonexistent"); known {
		t.Error("a folder that is not there has room")
	}
}
