package engine

import (
	"errors"
	"regexp"
	"strconv"
)

// ErrClosed is returned by a handle that was closed.
var ErrClosed = errors.New("engine handle is closed")

// Codes of the engine's exceptions that callers act on, with ClickHouse's own numbers.
const (
	CodeBadArguments     = 36
	CodeNotImplemented   = 48
	CodeSyntaxError      = 62
	CodeUnknownSetting   = 115
	CodeReadonly         = 164
	CodeQueryCancelled   = 394
	CodeBadQueryParam    = 457
	CodeAuthentication   = 516
	CodeUnknownException = 1002
)

// Error is an exception of the engine: Code is ClickHouse's error number, Message its whole text, beginning "Code: ".
type Error struct {
	Code    int
	Message string
}

func (e *Error) Error() string { return e.Message }

var codePrefix = regexp.MustCompile(`^Code: (\d+)\. DB::Exception: `)

// newError reads the code out of the engine's text. A text that some layer wrapped again ("Code: 164.
// DB::Exception: Code: 164. DB::Exception: …") is unwrapped, so that people read it once.
func newError(text string) *Error {
	m := codePrefix.FindStringSubmatch(text)
	if m == nil {
		return &Error{Code: CodeUnknownException, Message: text}
	}
	for {
		rest := text[len(m[0]):]
		again := codePrefix.FindStringSubmatch(rest)
		if again == nil || again[1] != m[1] {
			break
		}
		text = rest
	}
	code, err := strconv.Atoi(m[1])
	if err != nil {
		code = CodeUnknownException
	}
	return &Error{Code: code, Message: text}
}
