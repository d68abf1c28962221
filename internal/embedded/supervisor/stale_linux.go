package supervisor

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/child"
)

// endStale kills the server process that holds a folder's lock, where it is one
// of this program, of this folder, and its supervisor is gone. It ends by
// itself, too, but on a busy machine that takes a while. It returns which
// process it was, and nothing where there is none.
func endStale(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "lock"))
	if err != nil {
		return ""
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid <= 1 {
		return ""
	}
	// The handle is taken before the process is looked at: it cannot be another
	// one's that gets the number later.
	p, err := os.FindProcess(pid)
	if err != nil {
		return ""
	}
	defer p.Release() //nolint:errcheck // only a handle
	if !serves(pid, dir) || supervised(pid) || p.Kill() != nil {
		return ""
	}
	return fmt.Sprintf("process %d", pid)
}

// serves reports whether a process is a server of the folder.
func serves(pid int, dir string) bool {
	args := commandLine(pid)
	at := slices.Index(args, "--dir")
	return slices.Contains(args, child.Command) && at >= 0 && at+1 < len(args) && args[at+1] == dir
}

// supervised reports whether the parent of a process is a supervisor: one that
// is gone has left the process to another.
func supervised(pid int) bool {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 {
		return false
	}
	parent, err := strconv.Atoi(fields[1])
	return err == nil && slices.Contains(commandLine(parent), Command)
}

// commandLine is empty for a process that has ended.
func commandLine(pid int) []string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	if err != nil {
		return nil
	}
	return strings.Split(strings.TrimSuffix(string(text), "\x00"), "\x00")
}
