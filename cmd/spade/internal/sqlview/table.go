package sqlview

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

// Rows are laid out in blocks, so that a large answer is neither held whole nor waited for.
const (
	blockRows = 1000
	maxCell   = 200 // columns of the screen that a cell may take
)

// tableWriter lays rows out under their column names.
type tableWriter struct {
	set     Settings
	columns []screen.Column
	table   *screen.Table
	rows    int

	describes bool // the answer is one to DESCRIBE
}

// writeTable reads a line of names, a line of types and a line for each row, all arrays of texts.
func writeTable(answer io.Reader, set Settings) error {
	w := &tableWriter{set: set}
	line := 0
	var names []string
	err := eachLine(answer, func(text string, _, _ bool) error {
		if text == "" {
			return nil
		}
		var cells []*string
		if err := json.Unmarshal([]byte(text), &cells); err != nil {
			return fmt.Errorf("read the answer: %w", err)
		}
		line++
		switch line {
		case 1:
			names = texts(cells)
			return nil
		case 2:
			w.begin(names, texts(cells))
			return nil
		}
		return w.row(texts(cells))
	})
	if err != nil {
		return err
	}
	if w.rows == 0 && line < 2 {
		return nil // a statement without an answer
	}
	if err := w.flush(); err != nil {
		return err
	}
	unit := "rows"
	if w.rows == 1 {
		unit = "row"
	}
	_, err = fmt.Fprintln(set.Out, set.Style.Dim(fmt.Sprintf("%d %s", w.rows, unit)))
	return err
}

// texts are the cells; NULL is shown as the server writes it.
func texts(cells []*string) []string {
	list := make([]string, len(cells))
	for i, c := range cells {
		if c == nil {
			list[i] = "NULL"
			continue
		}
		list[i] = *c
	}
	return list
}

// described are the columns of the answer to DESCRIBE, and what a person reads of them.
var (
	described     = []string{"name", "type", "default_type", "default_expression", "comment", "codec_expression", "ttl_expression"}
	describedKept = []int{0, 1, 4}
)

// pick takes what is shown of a row. The answer to DESCRIBE is shown without its storage, which would push the comments
// off the screen; the other formats hold all of it.
func (w *tableWriter) pick(row []string) []string {
	if !w.describes || len(row) != len(described) {
		return row
	}
	short := make([]string, len(describedKept))
	for i, at := range describedKept {
		short[i] = row[at]
	}
	return short
}

func (w *tableWriter) begin(names, types []string) {
	w.describes = slices.Equal(names, described)
	names, types = w.pick(names), w.pick(types)
	for i, name := range names {
		kind := ""
		if i < len(types) {
			kind = strings.TrimSuffix(strings.TrimPrefix(types[i], "Nullable("), ")")
		}
		number := strings.HasPrefix(kind, "Int") || strings.HasPrefix(kind, "UInt") || strings.HasPrefix(kind, "Float") ||
			strings.HasPrefix(kind, "Decimal")
		w.columns = append(w.columns, screen.Column{Title: screen.Escape(name), Right: number, Max: maxCell})
	}
	w.table = screen.NewTable(w.columns...)
}

func (w *tableWriter) row(cells []string) error {
	cells = w.pick(cells)
	row := make([]any, len(cells))
	for i, c := range cells {
		row[i] = c
	}
	w.table.Add(row...)
	w.rows++
	if w.table.Len() < blockRows {
		return nil
	}
	err := w.flush()
	w.table = screen.NewTable(w.columns...)
	return err
}

// flush writes the block that has been collected; the first one is written even when it is empty, for its titles.
func (w *tableWriter) flush() error {
	if w.table.Len() == 0 && w.rows > 0 {
		return nil
	}
	var b strings.Builder
	if err := w.table.Write(&b); err != nil {
		return err
	}
	text := b.String()
	if w.set.Columns > 0 {
		var cut strings.Builder
		for line := range strings.Lines(text) {
			cut.WriteString(screen.Fit(strings.TrimSuffix(line, "\n"), w.set.Columns) + "\n")
		}
		text = cut.String()
	}
	_, err := io.WriteString(w.set.Out, text)
	return err
}
