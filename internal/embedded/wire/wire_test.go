package wire

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func listen(t *testing.T, folder string) string {
	t.Helper()
	ln, err := Listen(folder)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ln.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	info, err := os.Stat(ln.Addr().String())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("socket %v: %v", info, err)
	}
	return ln.Addr().String()
}

func TestAShortFolderHoldsItsSocket(t *testing.T) {
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	if path := listen(t, dir); filepath.Dir(path) != dir {
		t.Errorf("the socket is %s", path)
	}
}

func TestALongFolderHasItsSocketElsewhere(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	long := filepath.Join(t.TempDir(), strings.Repeat("long", 30))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	path := listen(t, long)
	if strings.HasPrefix(path, long) || len(path) > maxSocketPath {
		t.Errorf("the socket is %s", path)
	}
	if other := listen(t, long+"2"); other == path {
		t.Error("two folders share a socket")
	}
}

func TestASocketFolderOfOthersIsRefused(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	first, err := shortPath("/x")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(filepath.Dir(first), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := shortPath("/x"); err == nil || !strings.Contains(err.Error(), "private") {
		t.Errorf("got %v", err)
	}
}

func TestThePeerIsChecked(t *testing.T) {
	path := listen(t, t.TempDir())
	ours, err := net.DialUnix("unix", nil, &net.UnixAddr{Name: path, Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := ours.Close(); err != nil {
			t.Error(err)
		}
	}()
	if err := CheckPeer(ours, os.Getuid()); err != nil {
		t.Error(err)
	}
	if uid, err := peerUID(ours); err != nil || uid != os.Getuid() {
		t.Errorf("peer %d, %v", uid, err)
	}
}
