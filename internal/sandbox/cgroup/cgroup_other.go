//go:build unix && !linux

package cgroup

import "errors"

// ErrUnavailable says that this operating system has no control groups.
var ErrUnavailable = errors.New("this operating system has no control groups")

// Parent is where groups are made; here there is none.
type Parent struct{}

// Limits are those of one group.
type Limits struct{ MemoryBytes, Processes uint64 }

// Group is one control group; here there is none.
type Group struct{}

// Find returns ErrUnavailable.
func Find() (*Parent, error) { return nil, ErrUnavailable }

// Version is none.
func (*Parent) Version() int { return 0 }

// New returns ErrUnavailable.
func (*Parent) New(Limits) (*Group, error) { return nil, ErrUnavailable }

// Sweep has nothing to do.
func (*Parent) Sweep() error { return nil }

// Add returns ErrUnavailable.
func (*Group) Add(int) error { return ErrUnavailable }

// OutOfMemory is never so.
func (*Group) OutOfMemory() bool { return false }

// Kill has nothing to do.
func (*Group) Kill() error { return nil }

// Signal has nothing to do.
func (*Group) Signal() error { return nil }

// Processes lists none.
func (*Group) Processes() ([]int, error) { return nil, nil }

// Remove has nothing to do.
func (*Group) Remove() error { return nil }
