package sandbox

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A mount over what the root is made of is refused, and one inside is not: an interpreter may live in any folder.
func TestMountsLeaveTheRootsOwn(t *testing.T) {
	dir := t.TempDir()
	for to, refused := range map[string]bool{
		"/": true, "/.": true, "/tmp": true, "/tmp/": true, "/dev": true, "/.machine": true, "/.machine/etc": true, "/.empty": true,
		"/tmp/python": false, "/.machines": false, "/usr": false, "": false,
	} {
		got, err := resolve([]Mount{{From: dir, To: to}})
		if (err != nil) != refused {
			t.Errorf("%q: %v, %v", to, got, err)
		}
	}
	if _, err := resolve([]Mount{{From: "/tmp"}}); err == nil {
		t.Error("the machine's folder for temporary files is mounted at its own path")
	}
}

// What cannot be hidden is told; what is not there need not be.
func TestHideTellsWhatItCannotHide(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	loop := filepath.Join(dir, "loop")
	if err := os.Symlink(loop, loop); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]error{
		filepath.Join(dir, "absent"): nil,
		file:                         unix.ENOTDIR,
		loop:                         unix.ELOOP,
		filepath.Join(file, "below"): unix.ENOTDIR,
		filepath.Join(dir, strings.Repeat("x", 300)): unix.ENAMETOOLONG,
	} {
		if err := hide([]string{path}); !errors.Is(err, want) || errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", path, err)
		}
	}
}
