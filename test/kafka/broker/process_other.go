//go:build !linux

package broker

import "syscall"

// dieWithParent is what other systems have no such thing for: there a killed test leaves its brokers behind.
func dieWithParent() *syscall.SysProcAttr { return &syscall.SysProcAttr{} }
