//go:build !linux

package clickhouse

import "syscall"

// processAttributes: a group of its own, so that Ctrl-C in a terminal reaches the child through its parent, in order.
// The child ends with its parent because its standard input does.
func processAttributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
