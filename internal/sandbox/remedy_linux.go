package sandbox

import (
	"os"
	"strings"
)

// NamespaceRemedy says what to do on this machine so that a process may have namespaces of its own. It knows the places
// where distributions and container engines forbid them.
func NamespaceRemedy() string { return namespaceRemedy("/", os.Geteuid() == 0) }

const (
	appArmorRemedy = "AppArmor keeps unprivileged programs from user namespaces, as Ubuntu 23.10 and later do. Either allow it to all:\n" +
		"  sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0\n" +
		"or to this program only, by a file /etc/apparmor.d/spade with\n" +
		"  abi <abi/4.0>,\n" +
		"  include <tunables/global>\n" +
		"  profile spade PROGRAM flags=(unconfined) {\n" +
		"    userns,\n" +
		"  }\n" +
		"and sudo apparmor_parser -r /etc/apparmor.d/spade"
	containerRemedy = "in a container, the engine's default profiles forbid namespaces and mounts; start it with\n" +
		"  docker run --security-opt seccomp=unconfined --security-opt apparmor=unconfined …\n" +
		"(podman needs neither, in general)"
)

// namespaceRemedy looks below root, which is the machine's or a test's.
func namespaceRemedy(root string, privileged bool) string {
	read := func(path string) string {
		data, err := os.ReadFile(root + path)
		if err != nil {
			return ""
		}
		return strings.TrimSpace(string(data))
	}
	exists := func(path string) bool {
		_, err := os.Stat(root + path)
		return err == nil
	}
	var remedies []string
	if exists(".dockerenv") || exists("run/.containerenv") || strings.Contains(read("proc/1/environ"), "container=") {
		remedies = append(remedies, containerRemedy)
	}
	if read("proc/sys/user/max_user_namespaces") == "0" {
		remedies = append(remedies, "user namespaces are switched off: sudo sysctl -w user.max_user_namespaces=15000")
	}
	if !privileged && read("proc/sys/kernel/unprivileged_userns_clone") == "0" {
		remedies = append(remedies, "only root may make user namespaces: sudo sysctl -w kernel.unprivileged_userns_clone=1")
	}
	if read("proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1" && (!privileged || len(remedies) > 0) {
		remedies = append(remedies, strings.ReplaceAll(appArmorRemedy, "PROGRAM", programPath()))
	}
	if len(remedies) == 0 {
		return "needs a kernel with CONFIG_USER_NS, and nothing around this process that forbids clone with namespaces or mount: " +
			"a seccomp filter, SELinux, AppArmor"
	}
	return strings.Join(remedies, "\n")
}

func programPath() string {
	path, err := os.Executable()
	if err != nil {
		return "/path/to/spade"
	}
	return path
}
