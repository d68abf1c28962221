package engine

import "fmt"

// Kind classes an Error as the server answers it.
type Kind uint8

// The classes of errors.
const (
	// NotFound: a collection, alias or point that is not there.
	NotFound Kind = iota + 1
	// Exists: a name that is taken.
	Exists
	// Invalid: a request that cannot be right whatever the state.
	Invalid
	// Unsupported: a part of Qdrant that is not built here.
	Unsupported
	// Exhausted: no memory or disk space is left for a write.
	Exhausted
)

// Error is an error with a class; its text is what Qdrant would say where that
// is known.
type Error struct {
	Kind Kind
	Msg  string
}

// Error implements error.
func (e *Error) Error() string { return e.Msg }

func errNotFound(name string) error {
	return &Error{Kind: NotFound, Msg: fmt.Sprintf("Not found: Collection `%s` doesn't exist!", name)}
}

func errInvalid(format string, args ...any) error {
	return &Error{Kind: Invalid, Msg: "Wrong input: " + fmt.Sprintf(format, args...)}
}

func errUnsupported(what string) error {
	return &Error{Kind: Unsupported, Msg: what + " is not supported by the embedded vector server"}
}
