package sandbox

import (
	"fmt"
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
	for name, layer := range map[string]Layer{"user": Namespaces, "pid": Namespaces, "mnt": Namespaces, "net": Namespaces, "ipc": Namespaces, "uts": Namespaces} {
		if !layers.Has(layer) {
			continue
		}
		own, err := os.Readlink("/proc/self/ns/" + name)
		if err != nil {
			return nil, err
		}
		if theirs, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/ns/" + name); err == nil && theirs == own {
			lacking = append(lacking, "be in this process's namespace of kind "+name)
		}
	}
	return lacking, nil
}
