//go:build unix && !linux

package maker

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// Prefix begins every name.
const Prefix = "spade"

// Name names a process by its number.
func Name(pid int) (string, error) { return fmt.Sprintf("%s-0-%d-0", Prefix, pid), nil }

// Gone reports whether a thing was made by a process that has ended. The thing's name is that of its maker, a hyphen and
// something without hyphens.
func Gone(thing string) bool {
	parts := strings.Split(thing, "-")
	if len(parts) != 5 || parts[0] != Prefix {
		return false
	}
	pid, err := strconv.Atoi(parts[2])
	return err == nil && errors.Is(unix.Kill(pid, 0), unix.ESRCH)
}
