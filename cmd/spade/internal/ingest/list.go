package ingest

import (
	"encoding/json"
	"io"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/producers/corpus"
)

// List writes a line for each document, chunks counted.
func List(w io.Writer, index *corpus.Index) error {
	t := screen.NewTable(
		screen.Column{Title: "SOURCE", Max: 50}, screen.Column{Title: "TITLE", Max: 50}, screen.Column{Title: "CHUNK", Right: true},
		screen.Column{Title: "BYTES", Right: true}, screen.Column{Title: "STATE"}, screen.Column{Title: "DOCUMENT ID"},
	)
	for _, e := range index.Entries() {
		state := ""
		if e.Withdrawn {
			state = "withdrawn"
		}
		t.Add(e.Source, e.Title, e.Chunk, e.Bytes, state, e.ID)
	}
	return t.Write(w)
}

// entry is a document as a script reads it.
type entry struct {
	ID        string `json:"document_id"`
	Parent    string `json:"parent_id"`
	Source    string `json:"source"`
	Title     string `json:"title"`
	MediaType string `json:"media_type"`
	Chunk     int    `json:"chunk"`
	Chunks    int    `json:"chunks"`
	Bytes     int    `json:"bytes"`
	Withdrawn bool   `json:"withdrawn"`
	Reason    string `json:"reason,omitempty"`
}

// ListJSON writes one JSON object a document, each on a line.
func ListJSON(w io.Writer, index *corpus.Index) error {
	enc := json.NewEncoder(screen.JSONWriter(w))
	enc.SetEscapeHTML(false)
	for _, e := range index.Entries() {
		err := enc.Encode(entry{
			e.ID.String(), e.Parent.String(), e.Source, e.Title, e.MediaType, e.Chunk, e.Chunks, e.Bytes, e.Withdrawn, e.Reason,
		})
		if err != nil {
			return err
		}
	}
	return nil
}
