package pools

import (
	"errors"
	"fmt"
	"strings"
)

// ErrSpec is matched by the error of a spec that names nothing.
var ErrSpec = errors.New("no such pool")

// specError is matched by ErrSpec and does not say "no such pool": it is about a file, or about a set.
type specError struct{ err error }

func (e *specError) Error() string        { return e.err.Error() }
func (e *specError) Unwrap() error        { return e.err }
func (e *specError) Is(target error) bool { return target == ErrSpec }

// Spec says which environments are meant.
type Spec struct {
	// Set is the package set, and Name the environment in it or "*" for all. Both are empty when Path is not.
	Set, Name string
	// Path is a folder or a file.
	Path string
	// Package is the package set that the Python sources of Path import; empty for none.
	Package string
}

// String is what Parse reads.
func (s Spec) String() string {
	if s.Path != "" {
		return s.Path
	}
	return s.Set + ":" + s.Name
}

// Parse reads a spec: SET:NAME, SET:* or a path. A path that looks like a set can be written with ./ before it.
func Parse(text string) (Spec, error) {
	if text == "" {
		return Spec{}, fmt.Errorf("%w: the name is empty; %s", ErrSpec, forms())
	}
	set, name, found := strings.Cut(text, ":")
	if !found {
		if _, known := setOf(text); known {
			return Spec{}, fmt.Errorf("%w: %q needs the name of an environment: %s:* for all", ErrSpec, text, text)
		}
		return Spec{Path: text}, nil
	}
	if _, known := setOf(set); !known {
		if strings.ContainsAny(set, `/\.`) {
			return Spec{Path: text}, nil
		}
		return Spec{}, fmt.Errorf("%w: %q is none of %s; %s", ErrSpec, set, strings.Join(Names(), ", "), forms())
	}
	if name == "" {
		return Spec{}, fmt.Errorf("%w: %q names no environment: %s:* for all", ErrSpec, text, set)
	}
	return Spec{Set: set, Name: name}, nil
}

func forms() string {
	return "write SET:NAME such as gymnasium:FrozenLake-v1, SET:* for all of a set, or the path of a folder or file of .py and .star sources"
}
