package crash

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// find lists the processes of a kind that belong to a data folder or to a client.
func find(t *testing.T, data, victim string, client int) []int {
	t.Helper()
	if victim == "client" {
		return []int{client}
	}
	procs := processes(t)
	supervisor := 0
	for pid, p := range procs {
		if p.is("__supervisor") && strings.Contains(p.cmdline, data) {
			supervisor = pid
		}
	}
	var found []int
	for pid, p := range procs {
		switch victim {
		case "supervisor":
			if pid == supervisor {
				found = append(found, pid)
			}
		case "clickhouse":
			if p.is("__chdb") && descends(procs, pid, supervisor) {
				found = append(found, pid)
			}
		case "plugin":
			if strings.Contains(p.cmdline, "spade-plugin-native") && descends(procs, pid, client) {
				found = append(found, pid)
			}
		case "worker":
			if p.is("__gym") && descends(procs, pid, client) {
				found = append(found, pid)
			}
		}
	}
	return found
}

// process is what /proc says of a process.
type process struct {
	parent  int
	cmdline string // arguments, each ended by a space
}

func (p process) is(argument string) bool { return strings.Contains(p.cmdline, " "+argument+" ") }

func processes(t *testing.T) map[int]process {
	t.Helper()
	dirs, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	all := map[int]process{}
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err != nil {
			continue
		}
		// A process that ends while it is looked at is not there.
		cmdline, err := os.ReadFile(filepath.Join(dir, "cmdline"))
		if err != nil {
			continue
		}
		stat, err := os.ReadFile(filepath.Join(dir, "stat"))
		if err != nil {
			continue
		}
		fields := strings.Fields(string(stat[bytes.LastIndexByte(stat, ')')+1:]))
		parent, err := strconv.Atoi(fields[1])
		if err != nil {
			continue
		}
		all[pid] = process{parent, strings.ReplaceAll(string(cmdline), "\x00", " ")}
	}
	return all
}

// descends reports whether a process has an ancestor.
func descends(procs map[int]process, pid, ancestor int) bool {
	for range 10 {
		p, ok := procs[pid]
		if !ok || ancestor == 0 {
			return false
		}
		if p.parent == ancestor {
			return true
		}
		pid = p.parent
	}
	return false
}
