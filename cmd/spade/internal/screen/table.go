package screen

import (
	"fmt"
	"io"
	"strings"
)

// Column is one column of a table.
type Column struct {
	Title string
	Right bool // numbers stand on the right
	Max   int  // widest the column may be; 0 = no bound
}

// Table collects rows and writes them aligned. Cells are escaped when they are added.
type Table struct {
	columns []Column
	rows    [][]string
}

// NewTable makes a table without rows.
func NewTable(columns ...Column) *Table { return &Table{columns: columns} }

// Add appends a row; missing cells are empty.
func (t *Table) Add(cells ...any) {
	row := make([]string, len(t.columns))
	for i := range min(len(cells), len(row)) {
		row[i] = Escape(fmt.Sprint(cells[i]))
		if limit := t.columns[i].Max; limit > 0 {
			row[i] = Fit(row[i], limit)
		}
	}
	t.rows = append(t.rows, row)
}

// Len is the number of rows.
func (t *Table) Len() int { return len(t.rows) }

// Write writes the titles and the rows, two blanks between columns and none at the end of a line.
func (t *Table) Write(w io.Writer) error {
	titles := make([]string, len(t.columns))
	widths := make([]int, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.Title
		widths[i] = Width(c.Title)
		for _, row := range t.rows {
			widths[i] = max(widths[i], Width(row[i]))
		}
	}
	for _, row := range append([][]string{titles}, t.rows...) {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = Pad(cell, widths[i], t.columns[i].Right)
		}
		if _, err := fmt.Fprintln(w, strings.TrimRight(strings.Join(cells, "  "), " ")); err != nil {
			return err
		}
	}
	return nil
}
