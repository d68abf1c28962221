package front

import (
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
)

// request is what a client asked for.
type request struct {
	user     User
	id       string // query id; also the engine's log_comment, by which the statement is stopped
	database string
	format   string // of the answer, when the statement names none
	params   []engine.Param
	settings map[string]string
	query    string    // of the URL
	body     io.Reader // decoded; nil for GET
	get      bool      // GET and HEAD imply reading

	encoding string // of the answer: gzip, deflate, br, zstd or none
	blocks   string // method of ClickHouse's own block compression of the answer, or none
	wait     bool   // hold the answer back until the query has ended
	revision int    // client_protocol_version: the client may begin with a greeting, see hello.go
}

func (r *request) nothing() bool { return r.query == "" && r.body == nil }

// maxFieldBytes bounds the fields of a form.
const maxFieldBytes = 16 << 20

// parse reads everything but the body. Values of the URL are read first, then those of a form.
func (h *Handler) parse(r *http.Request, user User) (*request, error) {
	values, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, &engine.Error{Code: engine.CodeBadArguments, Message: "the URL is malformed: " + err.Error()}
	}
	req := &request{user: user, settings: map[string]string{}, get: r.Method == http.MethodGet || r.Method == http.MethodHead}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost, http.MethodPut:
		if req.body, err = decodeBody(r, values); err != nil {
			return nil, err
		}
		if err := req.form(r, values); err != nil {
			return nil, err
		}
	default:
		return nil, &engine.Error{Code: engine.CodeNotImplemented, Message: r.Method + " is not supported: use GET or POST"}
	}
	return req, h.apply(req, r, values)
}

// apply sorts the values into controls, parameters and settings.
func (h *Handler) apply(req *request, r *http.Request, values url.Values) error {
	for name, all := range values {
		value := all[len(all)-1]
		switch {
		case strings.HasPrefix(name, "param_"):
			req.params = append(req.params, engine.Param{Name: strings.TrimPrefix(name, "param_"), Value: value})
		case refusedControls[name] != "" && value != "":
			return &engine.Error{Code: engine.CodeNotImplemented, Message: name + " is not supported by the embedded server: " + refusedControls[name]}
		case controls[name] || refusedControls[name] != "":
		default:
			if err := req.setting(name, value); err != nil {
				return err
			}
		}
	}
	req.query = values.Get("query")
	req.id = values.Get("query_id")
	if req.id == "" {
		req.id = uuid.NewString()
	}
	req.database = first(values.Get("database"), r.Header.Get("X-ClickHouse-Database"), h.cfg.Database)
	if req.user.ReadOnly && strings.EqualFold(req.database, "default") {
		return &engine.Error{Code: engine.CodeReadonly, Message: "the database default shows the host's files: name another one"}
	}
	req.format = first(values.Get("default_format"), r.Header.Get("X-ClickHouse-Format"), "TabSeparated")
	req.wait = enabled(values.Get("wait_end_of_query"))
	req.revision, _ = strconv.Atoi(values.Get("client_protocol_version")) // anything else is no revision
	req.compression(r, values)
	if req.user.ReadOnly {
		req.limit(h.cfg.Limits)
	}
	req.settings["log_comment"] = req.id
	req.settings["implicit_select"] = "0" // the library's own default runs any expression as a query
	return nil
}

// form takes the fields of a multipart form: the query and its parameters. Files are external tables.
func (r *request) form(hr *http.Request, values url.Values) error {
	kind, attrs, err := mime.ParseMediaType(hr.Header.Get("Content-Type"))
	if err != nil || kind != "multipart/form-data" {
		return nil //nolint:nilerr // any other content type is a plain body
	}
	parts := multipartReader(r.body, attrs["boundary"])
	for {
		part, err := parts.NextPart()
		if err == io.EOF {
			r.body = nil
			return nil
		}
		if err != nil {
			return &engine.Error{Code: engine.CodeBadArguments, Message: "the form is malformed: " + err.Error()}
		}
		if part.FileName() != "" || part.FormName() != "query" && !strings.HasPrefix(part.FormName(), "param_") {
			return &engine.Error{Code: engine.CodeNotImplemented, Message: "external tables are not supported by the embedded server: insert into a table first"}
		}
		text, err := io.ReadAll(io.LimitReader(part, maxFieldBytes+1))
		if err != nil || len(text) > maxFieldBytes {
			return &engine.Error{Code: engine.CodeBadArguments, Message: fmt.Sprintf("the form field %q is cut short or over %d MiB", part.FormName(), maxFieldBytes>>20)}
		}
		values.Set(part.FormName(), string(text))
	}
}

func first(list ...string) string {
	for _, s := range list {
		if s != "" {
			return s
		}
	}
	return ""
}

func enabled(value string) bool { return value == "1" || strings.EqualFold(value, "true") }
