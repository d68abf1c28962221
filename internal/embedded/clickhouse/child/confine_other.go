//go:build !linux

package child

import "errors"

// confine: only Linux has Landlock.
func confine(options, []string) error { return errors.New("this system has no Landlock") }
