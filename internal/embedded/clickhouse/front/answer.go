package front

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
)

// answer writes an answer. It holds the beginning back, so that a statement that fails gets an error status; once
// it has let go of it, an error can only follow the data, in the frame that ClickHouse uses.
type answer struct {
	w    http.ResponseWriter
	req  *request
	h    *Handler
	tag  string
	hold int // bytes to hold back

	held  []byte
	spill *os.File       // what was held beyond hold, when the whole answer is to be held
	out   io.WriteCloser // nil until the headers are sent
	err   error          // why writing ended: the client is gone
}

func (h *Handler) newAnswer(w http.ResponseWriter, req *request) *answer {
	a := &answer{w: w, req: req, h: h, hold: h.cfg.Buffer, tag: rand.Text()[:16]}
	header := w.Header()
	header.Set("X-ClickHouse-Server-Display-Name", "spade")
	header.Set("X-ClickHouse-Query-Id", req.id)
	header.Set("X-ClickHouse-Timezone", "UTC")
	header.Set("X-ClickHouse-Exception-Tag", a.tag)
	header.Set("X-Content-Type-Options", "nosniff")
	return a
}

// begin says which format is coming.
func (a *answer) begin(format string) {
	a.w.Header().Set("X-ClickHouse-Format", format)
	a.w.Header().Set("Content-Type", contentType(format))
}

// Write takes a piece of the answer.
func (a *answer) Write(p []byte) (int, error) {
	if a.err != nil {
		return 0, a.err
	}
	if a.out == nil && len(a.held)+len(p) <= a.hold && a.spill == nil {
		a.held = append(a.held, p...)
		return len(p), nil
	}
	if a.req.wait {
		return a.spillOver(p)
	}
	if a.out == nil {
		if a.err = a.open(); a.err != nil {
			return 0, a.err
		}
	}
	n, err := a.out.Write(p)
	a.err = err
	return n, err
}

func (a *answer) spillOver(p []byte) (n int, err error) {
	if a.spill == nil {
		if a.spill, a.err = os.CreateTemp(a.h.cfg.TempDir, "answer-"); a.err != nil {
			return 0, a.err
		}
	}
	n, a.err = a.spill.Write(p)
	return n, a.err
}

// open sends the headers and what was held back.
func (a *answer) open() error {
	if a.req.encoding != "" {
		a.w.Header().Set("Content-Encoding", a.req.encoding)
	}
	out, err := encoder(a.w, a.req.encoding)
	if err != nil {
		return fmt.Errorf("compress the answer: %w", err)
	}
	if a.req.blocks != "" {
		if out, err = newBlockWriter(out, a.req.blocks); err != nil {
			return err
		}
	}
	a.out = out
	_, err = a.out.Write(a.held)
	a.held = nil
	return err
}

// finish ends the answer with what the statement came to.
func (a *answer) finish(stats engine.Stats, err error) {
	if err != nil && a.out == nil {
		writeError(a.w, http.StatusInternalServerError, err)
		return
	}
	if err != nil {
		a.breakOff(err)
		return
	}
	if a.out == nil {
		a.w.Header().Set("X-ClickHouse-Summary", summary(stats))
		if a.req.encoding == "" && a.req.blocks == "" && a.spill == nil {
			a.w.Header().Set("Content-Length", strconv.Itoa(len(a.held)))
		}
		if err := a.open(); err != nil {
			writeError(a.w, http.StatusInternalServerError, err)
			return
		}
	}
	if err := a.flush(); err != nil {
		a.h.cfg.Logger.Debug("client went away", "query_id", a.req.id, "error", err)
	}
}

func (a *answer) flush() error {
	if a.spill != nil {
		if _, err := a.spill.Seek(0, io.SeekStart); err != nil {
			return err
		}
		if _, err := io.Copy(a.out, a.spill); err != nil {
			return err
		}
	}
	return a.out.Close()
}

// breakOff appends the error to an answer that has begun, and closes the connection without ending the answer, so
// that a client that knows nothing of the frame sees that the answer is cut.
func (a *answer) breakOff(cause error) {
	_, message := describe(cause)
	const most = 16 << 10 // clients look no further
	if len(message) > most {
		message = message[:most]
	}
	message += "\n"
	control := http.NewResponseController(a.w)
	if a.err == nil {
		// The frame goes in a piece of its own: the JavaScript client reads it from the end of one piece.
		flush(a.out)
		_ = control.Flush()
		_, err := fmt.Fprintf(a.out, "\r\n__exception__\r\n%s\r\n%s%d %s\r\n__exception__\r\n", a.tag, message, len(message), a.tag)
		if err == nil {
			_ = a.out.Close()
		}
	}
	_ = control.Flush()
	conn, _, err := control.Hijack()
	if err != nil {
		return
	}
	// A client that knows the frame hangs up by itself. One that sees the connection break at the same moment may
	// report that alone, so it gets a moment to read.
	_ = conn.SetReadDeadline(time.Now().Add(breakOffTime))
	_, _ = io.Copy(io.Discard, conn)
	_ = conn.Close()
}

// flush passes on what an encoder holds.
func flush(w io.Writer) {
	if f, ok := w.(interface{ Flush() error }); ok {
		_ = f.Flush() // the write that follows fails likewise
	}
}

// breakOffTime is how long a client gets to read an error before the connection breaks.
const breakOffTime = time.Second

func (a *answer) close() {
	if a.spill != nil {
		_ = a.spill.Close()
		_ = os.Remove(a.spill.Name())
	}
}

// summary is the X-ClickHouse-Summary header.
func summary(s engine.Stats) string {
	text, err := json.Marshal(map[string]string{
		"read_rows": num(s.ReadRows), "read_bytes": num(s.ReadBytes), "written_rows": num(s.WrittenRows), "written_bytes": num(s.WrittenByte),
		"total_rows_to_read": "0", "result_rows": num(s.ResultRows), "result_bytes": num(s.ResultBytes), "elapsed_ns": num(s.ElapsedNS),
	})
	if err != nil {
		return "{}"
	}
	return string(text)
}

func num(n uint64) string { return strconv.FormatUint(n, 10) }
