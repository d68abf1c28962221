package front

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
)

const (
	firstRead = 64 << 10
	maxHead   = 4 << 20  // of an INSERT before its data
	maxQuery  = 64 << 20 // of any other statement
)

// dispatch reads the statement and runs it in the way of its kind.
func (h *Handler) dispatch(ctx context.Context, req *request, a *answer) (engine.Stats, error) {
	source := req.source()
	text, in, err := readHead(source)
	switch {
	case errors.Is(err, sqlguard.ErrInFile):
		return engine.Stats{}, &engine.Error{Code: engine.CodeNotImplemented, Message: err.Error()}
	case err == nil && (req.user.ReadOnly || req.get):
		return engine.Stats{}, &engine.Error{Code: engine.CodeReadonly, Message: "Cannot execute query in readonly mode"}
	case err == nil:
		data := io.MultiReader(bytes.NewReader(text[in.Data:]), source)
		return h.writing(func() (engine.Stats, error) { return h.insert(req, in, data) })
	case !errors.Is(err, sqlguard.ErrNotInsert):
		return engine.Stats{}, err
	}
	rest, err := io.ReadAll(io.LimitReader(source, maxQuery))
	if err != nil {
		return engine.Stats{}, unreadable(err)
	}
	if len(rest) == maxQuery {
		return engine.Stats{}, &engine.Error{Code: codeQueryTooBig, Message: fmt.Sprintf("the statement is over %d MiB", maxQuery>>20)}
	}
	return h.statement(ctx, req, string(text)+string(rest), a)
}

// source is the query of the URL and then the body, as one text.
func (r *request) source() io.Reader {
	var parts []io.Reader
	if r.query != "" {
		parts = append(parts, bytes.NewReader([]byte(r.query)))
		if r.body != nil {
			parts = append(parts, bytes.NewReader([]byte("\n")))
		}
	}
	if r.body != nil {
		parts = append(parts, r.body)
	}
	return io.MultiReader(parts...)
}

// readHead reads until it is clear whether an INSERT with data begins here, and returns what it has read.
func readHead(source io.Reader) (text []byte, in sqlguard.Insert, err error) {
	for size := firstRead; ; size *= 2 {
		more := make([]byte, size)
		n, rerr := io.ReadFull(source, more)
		text = append(text, more[:n]...)
		complete := errors.Is(rerr, io.EOF) || errors.Is(rerr, io.ErrUnexpectedEOF)
		if rerr != nil && !complete {
			return text, in, unreadable(rerr)
		}
		in, err = sqlguard.ParseInsert(string(text), complete)
		if !errors.Is(err, sqlguard.ErrShort) || complete || len(text) > maxHead {
			return text, in, err
		}
	}
}

func unreadable(err error) error {
	return &engine.Error{Code: codeCannotRead, Message: "the request's body cannot be read: " + err.Error()}
}

// statement runs what is not an INSERT with data.
func (h *Handler) statement(ctx context.Context, req *request, text string, a *answer) (engine.Stats, error) {
	if req.revision > 0 && isGreeting(text) {
		block, err := h.greet(req.revision)
		if err != nil {
			return engine.Stats{}, err
		}
		a.begin("Native")
		_, err = a.Write(block)
		return engine.Stats{}, err
	}
	if req.user.ReadOnly {
		if err := sqlguard.Check(text); err != nil {
			return engine.Stats{}, err
		}
	}
	s, err := sqlguard.Parse(text)
	if err != nil {
		return engine.Stats{}, &engine.Error{Code: engine.CodeSyntaxError, Message: "Syntax error: " + err.Error()}
	}
	if req.get && !s.Output {
		return engine.Stats{}, &engine.Error{Code: engine.CodeReadonly, Message: "Cannot execute query in readonly mode: GET may only read, use POST"}
	}
	conn, err := h.cfg.Engine.Connect(req.database, req.settings)
	if err != nil {
		return engine.Stats{}, err
	}
	defer conn.Close()
	if req.user.ReadOnly {
		if err := secondOpinion(conn, text); err != nil {
			return engine.Stats{}, err
		}
	}
	defer h.stopWhenDone(ctx, req.id)()
	format := first(s.Format, req.format)
	if s.Output && !s.OutFile {
		return h.stream(conn, req, s, format, a)
	}
	if s.Verb == "KILL" {
		s.Text = sqlguard.ReplaceWord(s.Text, "query_id", "Settings['log_comment']")
	}
	run := func() (engine.Stats, error) { return execute(conn, req, s.Text, format, a) }
	if s.Output || s.Verb == "KILL" {
		return run()
	}
	return h.writing(run)
}

// writing runs a statement that writes. One that ends on a full disk has failed, whatever the engine says of it.
func (h *Handler) writing(run func() (engine.Stats, error)) (engine.Stats, error) {
	if err := h.room(); err != nil {
		return engine.Stats{}, err
	}
	stats, err := run()
	if err == nil {
		err = h.room()
	}
	return stats, err
}

func (h *Handler) room() error {
	if err := h.cfg.Room(); err != nil {
		return &engine.Error{Code: codeNoSpace, Message: "Not enough space: " + err.Error()}
	}
	return nil
}

// secondOpinion asks the engine's own parser whether the statement reads: it must agree with sqlguard.
func secondOpinion(conn *engine.Conn, text string) error {
	count, class, err := conn.Classify(text)
	if err != nil {
		return err
	}
	if count > 1 || class != engine.ClassReadOnly && class != engine.ClassUnknown {
		return &sqlguard.Refusal{Reason: "it is not a single reading statement"}
	}
	return nil
}

// stopWhenDone stops the statement with the given id when ctx ends, and keeps trying until the returned function is
// called: the statement may not have reached the engine when its client went away.
func (h *Handler) stopWhenDone(ctx context.Context, id string) (ended func()) {
	over := make(chan struct{})
	finished := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(finished)
		for {
			if err := h.cfg.Engine.Kill(id); err != nil {
				h.cfg.Logger.Warn("stop a query", "query_id", id, "error", err)
			}
			select {
			case <-over:
				return
			case <-time.After(100 * time.Millisecond):
			}
		}
	})
	return func() {
		close(over)
		if !stop() {
			<-finished
		}
	}
}

// execute runs a statement whole.
func execute(conn *engine.Conn, req *request, text, format string, a *answer) (engine.Stats, error) {
	out, stats, err := conn.Exec(text, format, req.params...)
	if err != nil {
		return stats, err
	}
	a.begin(format)
	_, err = a.Write(out)
	return stats, err
}

// stream runs a query whose output goes through a pipe.
func (h *Handler) stream(conn *engine.Conn, req *request, s sqlguard.Statement, format string, a *answer) (engine.Stats, error) {
	p, err := newPipe(h.cfg.TempDir)
	if err != nil {
		return engine.Stats{}, err
	}
	defer p.close() //nolint:errcheck // nothing can be done about a leftover; the temp folder is emptied at start
	type outcome struct {
		stats engine.Stats
		err   error
	}
	ended := make(chan outcome, 1)
	go func() {
		// The format is given twice: SHOW statements print nothing when the handle's own format is Null.
		_, stats, err := conn.Exec(s.WithOutput("INTO OUTFILE "+engine.QuoteString(p.path)+" APPEND", format), format, req.params...)
		ended <- outcome{stats, errors.Join(err, p.end())}
	}()
	a.begin(format)
	_, werr := io.Copy(onlyWriter{a}, p.reader)
	if werr != nil { // the client is gone, or the disk full: the engine must not wait for a reader
		stop := h.stopWhenDone(canceled(), req.id)
		defer stop()
		_, _ = io.Copy(io.Discard, p.reader)
	}
	o := <-ended
	var e *engine.Error
	if errors.As(o.err, &e) && e.Code == engine.CodeSyntaxError && a.out == nil {
		// The message would speak of the clause that was added. Without it the message is the user's own; and a
		// statement that cannot take the clause runs.
		a.held = nil
		return execute(conn, req, s.Text, format, a)
	}
	return o.stats, errors.Join(o.err, werr)
}

// canceled is a context that has ended.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// onlyWriter hides everything but Write, so that io.Copy uses a large buffer of its own.
type onlyWriter struct{ io.Writer }

// insert streams the data of an INSERT into the engine.
func (h *Handler) insert(req *request, in sqlguard.Insert, data io.Reader) (engine.Stats, error) {
	conn, err := h.cfg.Engine.Connect(req.database, req.settings)
	if err != nil {
		return engine.Stats{}, err
	}
	defer conn.Close()
	stream, err := conn.Insert(in.Head, in.Format, req.params...)
	if err != nil {
		return engine.Stats{}, err
	}
	source := &failing{in: data}
	if _, err := io.CopyBuffer(stream, source, make([]byte, 1<<20)); err != nil {
		stream.Abort()
		if source.err != nil {
			return engine.Stats{}, unreadable(source.err)
		}
		return engine.Stats{}, err
	}
	return stream.Commit()
}

// failing remembers that it was reading that failed, not writing.
type failing struct {
	in  io.Reader
	err error
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.in.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}
