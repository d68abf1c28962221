package designer

import (
	"strings"

	"github.com/seed256f7767/spade/plugins/native/internal/grammar"
)

// Documents reads the document sections of a designer's prompt:
//
//	<<<document id=… title=…
//	text
//	>>>
//
// Other sections (neighbours, a rejected attempt) are left out: a repair draws again from another seed.
func Documents(contents []string) []grammar.Doc {
	var docs []grammar.Doc
	for _, c := range contents {
		var open *grammar.Doc
		for _, line := range strings.Split(c, "\n") {
			switch {
			case strings.HasPrefix(line, "<<<document "):
				open = header(line[len("<<<document "):])
			case strings.HasPrefix(line, ">>>"):
				if open != nil {
					docs = append(docs, *open)
				}
				open = nil
			case open != nil:
				open.Text += line + "\n"
			}
		}
	}
	return docs
}

func header(s string) *grammar.Doc {
	d := &grammar.Doc{}
	s, d.Title, _ = strings.Cut(s, "title=")
	_, id, _ := strings.Cut(s, "id=")
	d.ID = strings.Trim(strings.TrimSpace(id), `"`)
	d.Title = strings.Trim(strings.TrimSpace(d.Title), `"`)
	return d
}
