package sandbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// Inspect looks from outside at what a process has taken on, and names what is not so. It sees what the process cannot
// tell, or could lie about.
func Inspect(pid int, layers Layer) ([]string, error) {
	status, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return nil, fmt.Errorf("look at the worker: %w", err)
	}
	fields := map[string]string{}
	for line := range strings.Lines(string(status)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		fields[name] = strings.TrimSpace(value)
	}
	var lacking []string
	want := func(layer Layer, field, value, otherwise string) {
		if layers.Has(layer) && fields[field] != value {
			lacking = append(lacking, otherwise)
		}
	}
	const none = "0000000000000000"
	want(NoNewPrivs, "NoNewPrivs", "1", "gain privileges by executing")
	want(Seccomp, "Seccomp", "2", "make any system call")
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		want(Privileges, set, none, "have capabilities ("+set+")")
	}
	if layers.Has(Privileges) && os.Geteuid() == 0 && canMapNobody() {
		nobody := strings.Join([]string{"65534", "65534", "65534", "65534"}, "\t")
		want(Privileges, "Uid", nobody, "be root outside")
		want(Privileges, "Gid", nobody, "be in root's group outside")
		want(Privileges, "Groups", "", "be in other groups")
	}
	if !layers.Has(Namespaces) {
		return lacking, nil
	}
	shared, err := sharedNamespaces(pid)
	return append(lacking, shared...), err
}

// namespaceKinds are the names in /proc of what [ProcessAttr] makes anew.
var namespaceKinds = []string{"user", "pid", "mnt", "net", "ipc", "uts", "cgroup"}

// sharedNamespaces names those namespaces of a process that are this one's.
func sharedNamespaces(pid int) ([]string, error) {
	var shared []string
	for _, kind := range namespaceKinds {
		own, err := os.Readlink("/proc/self/ns/" + kind)
		if err != nil {
			return nil, err
		}
		theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/" + kind)
		if err != nil && !errors.Is(err, fs.ErrPermission) { // a process whose links we may not read is not in our own
			return nil, err
		}
		if theirs == own {
			shared = append(shared, "be in this process's namespace of kind "+kind)
		}
	}
	return shared, nil
}
