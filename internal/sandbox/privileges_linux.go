package sandbox

import (
	"errors"
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
)

// The bits of prctl(PR_SET_SECUREBITS), by their names in linux/securebits.h. Each has a lock, the bit above it.
const (
	secureNoRoot         = 1 << 0 // user 0 gains nothing by executing
	secureNoSetUIDFixup  = 1 << 2 // changing users changes no capabilities
	secureKeepCaps       = 1 << 4 // capabilities stay when user 0 becomes another
	secureNoAmbientRaise = 1 << 6 // no ambient capabilities

	secureOn     = secureNoRoot | secureNoSetUIDFixup | secureNoAmbientRaise
	secureLocked = (secureOn | secureKeepCaps) << 1
	secureBits   = secureOn | secureLocked // what is on stays on, and keeping stays off
)

// dropPrivileges gives up every capability for good, and becomes [NobodyID] if the parent has mapped it. The calls act on
// the calling thread alone; the program that it executes inherits from it.
func dropPrivileges(nobody bool) error {
	if err := unix.Prctl(unix.PR_SET_SECUREBITS, secureBits, 0, 0, 0); err != nil {
		return fmt.Errorf("lock the meaning of user 0: %w", err)
	}
	for c := uintptr(0); ; c++ {
		err := unix.Prctl(unix.PR_CAPBSET_DROP, c, 0, 0, 0)
		if errors.Is(err, unix.EINVAL) && c > unix.CAP_LAST_CAP/2 {
			break // the kernel knows no more
		}
		if err != nil {
			return fmt.Errorf("drop capability %d: %w", c, err)
		}
	}
	if nobody {
		if err := becomeNobody(); err != nil {
			return err
		}
	}
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("clear ambient capabilities: %w", err)
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var none [2]unix.CapUserData
	if err := unix.Capset(&header, &none[0]); err != nil {
		return fmt.Errorf("give up capabilities: %w", err)
	}
	runtime.KeepAlive(&none)
	return nil
}

func becomeNobody() error {
	steps := []struct {
		what          string
		call, a, b, c uintptr
	}{
		{"leave all groups", unix.SYS_SETGROUPS, 0, 0, 0},
		{"change groups", unix.SYS_SETRESGID, NobodyID, NobodyID, NobodyID},
		{"change users", unix.SYS_SETRESUID, NobodyID, NobodyID, NobodyID},
	}
	for _, s := range steps {
		if _, _, errno := unix.RawSyscall(s.call, s.a, s.b, s.c); errno != 0 {
			return fmt.Errorf("%s: %w", s.what, errno)
		}
	}
	return nil
}
