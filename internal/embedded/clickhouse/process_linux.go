package clickhouse

import "syscall"

// processAttributes: a group of its own, so that Ctrl-C in a terminal reaches the child through its parent, in order;
// and the kernel ends it when its parent dies.
func processAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
