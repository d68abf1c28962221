package corpus

import (
	"context"
	"fmt"
	"io"
)

func readMarkdown(_ context.Context, cfg Config, in input, out sink) error {
	return readWhole(cfg, in, out, mediaMarkdown, func(text string) string { return markdownTitle(text) })
}

func readPlain(_ context.Context, cfg Config, in input, out sink) error {
	return readWhole(cfg, in, out, mediaPlain, func(string) string { return "" })
}

// readWhole reads a file that is one document.
func readWhole(cfg Config, in input, out sink, mediaType string, title func(string) string) error {
	data, p := readAll(cfg, in)
	if p == nil {
		if class, cause := checkText(data); class != nil {
			p = &Problem{Path: in.source, Class: class, Cause: cause}
		}
	}
	if p != nil {
		out.problem(p)
		return nil
	}
	text := normalise(string(data))
	if text == "" {
		out.problem(&Problem{Path: in.source, Class: ErrEmpty})
		return nil
	}
	return out.doc(newDocument(in.source, title(text), text, mediaType))
}

// newDocument makes a document of a text that is normalised, with a title for one that has none.
func newDocument(source, title, text, mediaType string) document {
	title = cleanTitle(title)
	if title == "" {
		title = cleanTitle(firstWords(text))
	}
	return document{source: source, title: title, text: text, mediaType: mediaType}
}

// readAll reads a whole file, or says why not.
func readAll(cfg Config, in input) ([]byte, *Problem) {
	if in.size > cfg.MaxFileBytes {
		return nil, tooLarge(in.source, in.size, cfg.MaxFileBytes)
	}
	// The file may have grown since its size was taken.
	data, err := io.ReadAll(io.LimitReader(in.file, cfg.MaxFileBytes+1))
	if err != nil {
		return nil, &Problem{Path: in.source, Class: ErrUnreadable, Cause: err}
	}
	if int64(len(data)) > cfg.MaxFileBytes {
		return nil, tooLarge(in.source, int64(len(data)), cfg.MaxFileBytes)
	}
	return data, nil
}

func tooLarge(source string, actual, allowed int64) *Problem {
	return &Problem{Path: source, Class: ErrTooLarge, Cause: fmt.Errorf("%d bytes, allowed are %d", actual, allowed)}
}
