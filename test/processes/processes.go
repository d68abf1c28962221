package processes

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Process is what /proc says of a process.
type Process struct {
	Parent  int
	Cmdline string // arguments, each ended by a space
}

// Is reports whether the process has an argument, such as the hidden command of a child of the program.
func (p Process) Is(argument string) bool { return strings.Contains(p.Cmdline, " "+argument+" ") }

// Set is the processes of one moment by their ids.
type Set map[int]Process

// All reads the processes of now. One that ends while it is looked at is not there.
func All() (Set, error) {
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		return nil, fmt.Errorf("list processes: %w", err)
	}
	all := Set{}
	for _, dir := range dirs {
		if pid, p, ok := read(dir); ok {
			all[pid] = p
		}
	}
	return all, nil
}

func read(dir string) (pid int, p Process, ok bool) {
	pid, err := strconv.Atoi(filepath.Base(dir))
	if err != nil {
		return 0, p, false
	}
	cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
	if err != nil {
		return 0, p, false
	}
	stat, err := os.ReadFile(filepath.Join(dir, "stat"))
	if err != nil {
		return 0, p, false
	}
	fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
	if len(fields) < 2 || fields[0] == "Z" {
		return 0, p, false
	}
	if p.Parent, err = strconv.Atoi(fields[1]); err != nil {
		return 0, p, false
	}
	p.Cmdline = strings.ReplaceAll(string(cmdline), "\x00", " ")
	return pid, p, true
}

// Alive reports whether a process runs. One that has ended and was not waited for does not.
func Alive(pid int) bool {
	_, _, ok := read(fmt.Sprintf("/proc/%d", pid))
	return ok
}

// Supervisor is the supervisor of a data folder's services; 0 for none.
func (s Set) Supervisor(data string) int {
	for pid, p := range s {
		if p.Is("__supervisor") && strings.Contains(p.Cmdline, " "+data+" ") {
			return pid
		}
	}
	return 0
}

// Below are the descendants of a process that match, in the order of their ids.
func (s Set) Below(ancestor int, match func(Process) bool) []int {
	var found []int
	for pid, p := range s {
		if match(p) && s.descends(pid, ancestor) {
			found = append(found, pid)
		}
	}
	slices.Sort(found)
	return found
}

// depth is how far up an ancestor is looked for.
const depth = 10

func (s Set) descends(pid, ancestor int) bool {
	for range depth {
		p, ok := s[pid]
		if !ok || ancestor == 0 {
			return false
		}
		if p.Parent == ancestor {
			return true
		}
		pid = p.Parent
	}
	return false
}

// Clickhouse reports whether the process is the embedded ClickHouse.
func Clickhouse(p Process) bool { return p.Is("__chdb") }

// Sandbox reports whether the process runs environments.
func Sandbox(p Process) bool { return p.Is("__gym") }

// Plugin reports whether the process is the native trainer plugin.
func Plugin(p Process) bool { return strings.Contains(p.Cmdline, "spade-plugin-native") }
