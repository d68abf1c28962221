package front

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
)

// Further ClickHouse error numbers.
const (
	codeNoSuchPath  = 79
	codeCannotRead  = 23
	codeSameID      = 216
	codeQueryTooBig = 307
	codeNoSpace     = 243
)

// codeNames are the names that ClickHouse's messages end with.
var codeNames = map[int]string{
	codeNoSuchPath: "INCORRECT_FILE_NAME", codeCannotRead: "CANNOT_READ_FROM_ISTREAM", codeSameID: "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING",
	codeQueryTooBig: "TOO_MANY_BYTES", codeNoSpace: "NOT_ENOUGH_SPACE", engine.CodeBadArguments: "BAD_ARGUMENTS",
	engine.CodeNotImplemented: "NOT_IMPLEMENTED", engine.CodeSyntaxError: "SYNTAX_ERROR", engine.CodeUnknownSetting: "UNKNOWN_SETTING",
	engine.CodeReadonly: "READONLY", engine.CodeQueryCancelled: "QUERY_WAS_CANCELLED", engine.CodeAuthentication: "AUTHENTICATION_FAILED",
	engine.CodeUnknownException: "UNKNOWN_EXCEPTION",
}

// describe turns any error into a ClickHouse code and message.
func describe(err error) (code int, message string) {
	var e *engine.Error
	var refusal *sqlguard.Refusal
	switch {
	case errors.As(err, &e):
		code, message = e.Code, e.Message
	case errors.As(err, &refusal):
		code, message = engine.CodeReadonly, refusal.Error()
	case errors.Is(err, sqlguard.ErrMany), errors.Is(err, sqlguard.ErrEmpty):
		code, message = engine.CodeSyntaxError, err.Error()
	case errors.Is(err, context.Canceled):
		code, message = engine.CodeQueryCancelled, "Query was cancelled"
	default:
		code, message = engine.CodeUnknownException, err.Error()
	}
	if !strings.HasPrefix(message, "Code: ") {
		message = fmt.Sprintf("Code: %d. DB::Exception: %s", code, message)
		if name := codeNames[code]; name != "" {
			message += ". (" + name + ")"
		}
	}
	return code, message
}

// writeError answers with a plain error.
func writeError(w http.ResponseWriter, status int, err error) {
	code, message := describe(err)
	header := w.Header()
	header.Set("Content-Type", "text/plain; charset=UTF-8")
	header.Set("X-ClickHouse-Exception-Code", strconv.Itoa(code))
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Content-Length", strconv.Itoa(len(message)+1))
	w.WriteHeader(status)
	_, _ = fmt.Fprintln(w, message)
}
