package sandbox

// Remedy says what to do about a layer that a machine lacks.
func Remedy(l Layer) string {
	switch l {
	case Descriptors, Rlimits:
		return "raise the hard limits of the calling shell, see ulimit -aH"
	case NoNewPrivs, Privileges:
		return "needs Linux 4.3 or newer"
	case Landlock:
		return "needs Linux 5.13 or newer with landlock in the lsm= list of the boot parameters; the other layers do without it"
	case Seccomp:
		return "needs a kernel with CONFIG_SECCOMP_FILTER on amd64 or arm64"
	case Namespaces, Root:
		return NamespaceRemedy()
	case Cgroup:
		return groupRemedy
	}
	return ""
}

// Without groups the limits of each process and the watchdog of the platform stand in for it. A scope of systemd has a limit
// on its tasks that nobody has asked for, and groups are not made where that would not hold.
const groupRemedy = "memory is measured from outside instead. To have groups, run as root, or as a plain user in one of its own:\n" +
	"  systemd-run --user --scope -p TasksMax=infinity spade …"
