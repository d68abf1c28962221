package corpus

import (
	"context"
	"io"
	"path"
	"strings"
)

// input is one opened file.
type input struct {
	source string // relative to the root that was given
	size   int64
	file   file
}

// file is what the readers need of an *os.File.
type file interface {
	io.Reader
	io.ReaderAt
	io.Seeker
}

// sink takes what a reader finds, in the file's order. An error of doc ends the reading and is returned by the reader.
type sink struct {
	doc     func(document) error
	problem func(*Problem)
}

// format is one kind of file. Its read returns an error only for what ends the whole ingestion: a cancelled context or
// an error of the sink. A file's own faults go to the sink as problems.
type format struct {
	name       string
	extensions []string
	read       func(ctx context.Context, cfg Config, in input, out sink) error
}

// formats lists what can be read; docs/corpus.md says the same to users.
func formats() []format {
	return []format{
		{"Markdown", []string{".md", ".markdown"}, readMarkdown},
		{"text", []string{".txt"}, readPlain},
		{"HTML", []string{".html", ".htm"}, readHTML},
		{"JSONL", []string{".jsonl"}, readJSONL},
		{"Parquet", []string{".parquet"}, readParquet},
	}
}

// Extensions lists the extensions of files that are read.
func Extensions() []string {
	var all []string
	for _, f := range formats() {
		all = append(all, f.extensions...)
	}
	return all
}

// formatOf finds the format of a file by the extension of its name, whose case does not matter.
func formatOf(name string) (format, bool) {
	ext := strings.ToLower(path.Ext(name))
	for _, f := range formats() {
		for _, e := range f.extensions {
			if e == ext {
				return f, true
			}
		}
	}
	return format{}, false
}
