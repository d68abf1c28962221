package maker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Prefix begins every name.
const Prefix = "spade"

// Name names a process: its process namespace, its number there and when it started, so that a later process of the same
// number is not taken for it. It has no separator but hyphens.
func Name(pid int) (string, error) {
	ns, err := namespace()
	if err != nil {
		return "", err
	}
	started, err := startTime(pid)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-%s-%d-%s", Prefix, ns, pid, started), nil
}

// namespace is the number of this process's process namespace.
func namespace() (string, error) {
	link, err := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		return "", err
	}
	return strings.Trim(strings.TrimPrefix(link, "pid:"), "[]"), nil
}

// startTime is when a process started, in ticks since the machine did.
func startTime(pid int) (string, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	fields := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
	const started = 19 // the 22nd field, counted from the third
	if len(fields) <= started {
		return "", fmt.Errorf("no start time of process %d", pid)
	}
	return fields[started], nil
}

// Gone reports whether a thing was made by a process of our process namespace that has ended. The thing's name is that of
// its maker, a hyphen and something without hyphens. A maker that cannot be looked at, for whatever reason, is not gone: what
// it made is killed and deleted otherwise.
func Gone(thing string) bool {
	ns, err := namespace()
	parts := strings.Split(thing, "-")
	if err != nil || len(parts) != 5 || parts[0] != Prefix || parts[1] != ns {
		return false
	}
	pid, err := strconv.Atoi(parts[2])
	if err != nil {
		return false
	}
	started, err := startTime(pid)
	if err != nil {
		return ended(err, pid)
	}
	return started != parts[3] // another process has the number now
}

// ended reports whether the error says that there is no such process. Where a mount option hides other users' processes,
// only a signal can tell: it would be refused and not lost.
func ended(err error, pid int) bool {
	absent := errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH)
	return absent && errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}
