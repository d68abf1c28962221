package letters

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

// Write lists letters for people.
func Write(w io.Writer, list []Letter) error {
	t := screen.NewTable(
		screen.Column{Title: "ID"}, screen.Column{Title: "TIME"}, screen.Column{Title: "RECORD"}, screen.Column{Title: "CONSUMER", Max: 16},
		screen.Column{Title: "SIZE", Right: true}, screen.Column{Title: "RETRIED"}, screen.Column{Title: "KEY", Max: 40},
		screen.Column{Title: "ERROR", Max: 100},
	)
	for _, l := range list {
		t.Add(l.short(), l.Time.Format(time.DateTime), l.Record, l.Consumer, progress.Bytes(int64(l.Size)), l.retried(), string(l.Key), l.Error)
	}
	return t.Write(w)
}

// short is as much of the id as is shown.
func (l Letter) short() string { return l.ID.String()[:8] }

func (l Letter) retried() string {
	switch {
	case l.Retried != nil:
		return "as " + l.Retried.String()
	case l.RetryOf != nil:
		return "failed again"
	}
	return "no"
}

// document is a letter for scripts.
type document struct {
	ID       string    `json:"id"`
	Time     time.Time `json:"time"`
	Record   Place     `json:"record"`
	Key      string    `json:"key"`
	Consumer string    `json:"consumer"`
	Error    string    `json:"error"`
	Bytes    int       `json:"bytes"`
	Retried  *Place    `json:"retried_as"`
	RetryOf  *Place    `json:"retry_of"`
	Action   string    `json:"action,omitempty"`
	Reason   string    `json:"reason,omitempty"`
}

func (l Letter) document() document {
	return document{
		ID: l.ID.String(), Time: l.Time, Record: l.Record, Key: text(string(l.Key)), Consumer: text(l.Consumer), Error: text(l.Error),
		Bytes: l.Size, Retried: l.Retried, RetryOf: l.RetryOf,
	}
}

// text is what is text of a string.
func text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// WriteJSON lists letters as one JSON array.
func WriteJSON(w io.Writer, list []Letter) error {
	docs := make([]document, len(list))
	for i, l := range list {
		docs[i] = l.document()
	}
	return encode(w, docs)
}

// WriteOutcomes tells people what became of letters.
func WriteOutcomes(w io.Writer, list []Outcome) error {
	for _, o := range list {
		line := fmt.Sprintf("%s  %s  %s", screen.Pad(o.Action, len(Would), false), o.Letter.short(), o.Letter.Record)
		if o.Reason != "" {
			line += ": " + o.Reason
		}
		if _, err := fmt.Fprintln(w, screen.Escape(line)); err != nil {
			return err
		}
	}
	return nil
}

// WriteOutcomesJSON tells scripts what became of letters, as one JSON array.
func WriteOutcomesJSON(w io.Writer, list []Outcome) error {
	docs := make([]document, len(list))
	for i, o := range list {
		docs[i] = o.Letter.document()
		docs[i].Action, docs[i].Reason = o.Action, text(o.Reason)
	}
	return encode(w, docs)
}

func encode(w io.Writer, docs []document) error {
	enc := json.NewEncoder(screen.JSONWriter(w))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(docs)
}
