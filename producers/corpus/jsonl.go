package corpus

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// readJSONL reads one object a line. A line that is at fault is a problem with its number; the others go on.
func readJSONL(ctx context.Context, cfg Config, in input, out sink) error {
	r := bufio.NewReaderSize(in.file, 64<<10)
	found := false
	for number := 1; ; number++ {
		if err := ctx.Err(); err != nil {
			return err
		}
		line, long, err := readLine(r, cfg.MaxRecordBytes)
		if err != nil && !errors.Is(err, io.EOF) {
			out.problem(&Problem{Path: in.source, Line: number, Class: ErrUnreadable, Cause: err})
			return nil
		}
		if blank := len(bytes.TrimSpace(line)) == 0; !blank || long {
			found = true
			if err := jsonlLine(cfg, in, out, number, line, long); err != nil {
				return err
			}
		}
		if err != nil {
			break
		}
	}
	if !found {
		out.problem(&Problem{Path: in.source, Class: ErrEmpty})
	}
	return nil
}

// jsonlLine passes on what one line holds.
func jsonlLine(cfg Config, in input, out sink, number int, line []byte, long bool) error {
	fault := func(class, cause error) error {
		out.problem(&Problem{Path: in.source, Line: number, Class: class, Cause: cause})
		return nil
	}
	if long {
		return fault(ErrTooLarge, fmt.Errorf("a line may have %d bytes", cfg.MaxRecordBytes))
	}
	if number == 1 {
		line = bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	if !utf8.Valid(line) {
		return fault(ErrEncoding, nil)
	}
	rec, class, cause := parseRecord(line)
	if class != nil {
		return fault(class, cause)
	}
	doc, ok := rec.document(in.source, strconv.Itoa(number), mediaJSONL)
	if !ok {
		return fault(ErrEmpty, nil)
	}
	return out.doc(doc)
}

// parseRecord decodes one line, which is valid UTF-8. Names are matched exactly; encoding/json would take "Text", too.
func parseRecord(line []byte) (rec record, class, cause error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(line, &fields); err != nil {
		return record{}, ErrMalformed, err
	}
	raw, ok := fields["text"]
	if !ok {
		return record{}, ErrMalformed, errors.New(`no field "text"`)
	}
	if err := json.Unmarshal(raw, &rec.text); err != nil {
		return record{}, ErrMalformed, fmt.Errorf(`field "text": %w`, err)
	}
	if loneSurrogate(raw, rec.text) {
		return record{}, ErrEncoding, errors.New(`field "text" has an unpaired surrogate`)
	}
	rec.title = label(fields["title"])
	rec.id = label(fields["id"])
	rec.source = label(fields["source"])
	if rec.source == "" {
		rec.source = label(fields["url"])
	}
	return rec, nil, nil
}

// loneSurrogate reports whether decoding put a replacement character where the line has none.
func loneSurrogate(raw []byte, text string) bool {
	const replacement = "\ufffd"
	decoded := bytes.Count([]byte(text), []byte(replacement))
	if decoded == 0 {
		return false
	}
	written := bytes.Count(raw, []byte(replacement)) + bytes.Count(bytes.ToLower(raw), []byte(`\ufffd`))
	return decoded > written
}

// label is an optional field that may be a string or a number; anything else is no label.
func label(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// readLine reads up to the next line feed, which it leaves out. Of a line longer than limit it keeps nothing and
// reports that it was long.
func readLine(r *bufio.Reader, limit int) (line []byte, long bool, err error) {
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > limit+1 {
			line, long = line[:0], true
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		line = bytes.TrimSuffix(line, []byte("\n"))
		if long {
			line = nil
		}
		return line, long, err
	}
}
