package maker

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestGone(t *testing.T) {
	ours, err := Name(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(ours, "-")
	for thing, want := range map[string]bool{
		ours + "-1": false,
		strings.Join([]string{Prefix, parts[1], parts[2], "1", "9"}, "-"):        true, // our number, another start
		strings.Join([]string{Prefix, "1", parts[2], "1", "9"}, "-"):             false,
		strings.Join([]string{Prefix, parts[1], "99999999", "1", "9"}, "-"):      true,
		strings.Join([]string{"other", parts[1], "99999999", "1", "9"}, "-"):     false,
		strings.Join([]string{Prefix, parts[1], "99999999", "1", "9", "x"}, "-"): false,
		Prefix: false,
	} {
		if got := Gone(thing); got != want {
			t.Errorf("%s: %v", thing, got)
		}
	}
}

// A process that lives and cannot be looked at is not gone.
func TestGoneOnlyIfSureOfIt(t *testing.T) {
	ours, err := Name(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 0, Max: limit.Max}); err != nil {
		t.Fatal(err)
	}
	gone := Gone(ours + "-1")
	_, err = startTime(os.Getpid())
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	if gone || err == nil {
		t.Errorf("gone %v without a descriptor to look by: %v", gone, err)
	}
	for pid, want := range map[int]bool{os.Getpid(): false, 1: false, 99999999: true} {
		if ended(fs.ErrNotExist, pid) != want || ended(unix.ESRCH, pid) != want || ended(fs.ErrPermission, pid) {
			t.Errorf("process %d: want %v", pid, want)
		}
	}
}
