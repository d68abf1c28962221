package corpus

import (
	"errors"
	"fmt"
	"strings"
)

// Classes of problems, for errors.Is on a Problem.
var (
	ErrUnreadable  = errors.New("cannot be read")
	ErrUnsupported = errors.New("format not supported")
	ErrEmpty       = errors.New("holds no text")
	ErrTooLarge    = errors.New("too large")
	ErrBinary      = errors.New("binary, not text")
	ErrEncoding    = errors.New("not valid UTF-8")
	ErrMalformed   = errors.New("malformed")
)

// Problem is one thing that could not be ingested: a file, a line of a JSONL file or a row of a Parquet file.
type Problem struct {
	Path  string // relative to the root that was given
	Line  int    // of a JSONL file, from 1; 0 means the whole file
	Row   int64  // of a Parquet file, from 1; 0 means the whole file
	Class error  // one of the classes above
	Cause error  // more detail; may be nil
}

// Error names the place, the class and the cause.
func (p *Problem) Error() string {
	var b strings.Builder
	b.WriteString(p.Path)
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d", p.Line)
	}
	if p.Row > 0 {
		fmt.Fprintf(&b, " row %d", p.Row)
	}
	b.WriteString(": ")
	b.WriteString(p.Class.Error())
	if p.Cause != nil {
		b.WriteString(": ")
		b.WriteString(p.Cause.Error())
	}
	return b.String()
}

// Unwrap gives the class and the cause.
func (p *Problem) Unwrap() []error {
	if p.Cause == nil {
		return []error{p.Class}
	}
	return []error{p.Class, p.Cause}
}
