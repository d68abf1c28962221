//go:build !linux

package child

// confine: only Linux has Landlock.
func confine(options, []string) error { return errNoSandbox }
