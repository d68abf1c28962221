package inspect

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/olap"
)

// Output is how a subject is shown.
type Output struct {
	Out   io.Writer
	JSON  bool // one object, a member a section
	Style screen.Style
}

// Show writes everything that is known of a subject.
func Show(ctx context.Context, conn olap.Conn, s Subject, out Output) error {
	doc := map[string]any{"kind": s.Kind, "id": s.ID.String()}
	for _, sec := range sections(s.Kind) {
		a, err := ask(ctx, conn, s.Kind+"-"+sec.name, s.ID)
		if err != nil {
			return err
		}
		if out.JSON {
			doc[sec.name] = a.document(sec.layout)
			continue
		}
		if err := out.section(sec, a); err != nil {
			return err
		}
	}
	if !out.JSON {
		return nil
	}
	enc := json.NewEncoder(screen.JSONWriter(out.Out))
	enc.SetIndent("", "  ")
	enc.SetEscapeHTML(false)
	return enc.Encode(doc)
}

// document is a section for scripts: an object, a list of objects, or a list of texts.
func (a answer) document(l layout) any {
	list := make([]any, len(a.rows))
	for i, row := range a.rows {
		if l == layoutText {
			list[i] = row[0]
			continue
		}
		object := map[string]any{}
		for j, c := range a.columns {
			object[c] = row[j]
		}
		list[i] = object
	}
	if l == layoutRecord && len(list) > 0 {
		return list[0]
	}
	return list
}

func (o Output) section(sec section, a answer) error {
	if len(a.rows) == 0 {
		return nil
	}
	if _, err := fmt.Fprintln(o.Out, o.Style.Bold(strings.ToUpper(sec.name))); err != nil {
		return err
	}
	var err error
	switch sec.layout {
	case layoutRecord:
		err = o.record(a)
	case layoutRows:
		err = o.table(a)
	case layoutText:
		err = o.texts(a)
	default:
		err = o.steps(a)
	}
	if err == nil {
		_, err = fmt.Fprintln(o.Out)
	}
	return err
}

// record writes the columns of the first row that have a value, one a line.
func (o Output) record(a answer) error {
	width := 0
	for _, c := range a.columns {
		width = max(width, screen.Width(c))
	}
	for i, c := range a.columns {
		text := cell(a.rows[0][i])
		if text == "" {
			continue
		}
		if _, err := fmt.Fprintf(o.Out, "  %s  %s\n", o.Style.Dim(screen.Pad(c, width, false)), screen.Escape(text)); err != nil {
			return err
		}
	}
	return nil
}

// maxCell bounds a cell of a table; whole texts have sections of their own.
const maxCell = 60

func (o Output) table(a answer) error {
	columns := make([]screen.Column, len(a.columns))
	for i, c := range a.columns {
		columns[i] = screen.Column{Title: "  " + c, Right: isNumber(a.rows[0][i]), Max: maxCell}
		if i > 0 {
			columns[i].Title = c
		}
	}
	t := screen.NewTable(columns...)
	for _, row := range a.rows {
		cells := make([]any, len(row))
		for i, v := range row {
			cells[i] = cell(v)
		}
		cells[0] = "  " + cell(row[0])
		t.Add(cells...)
	}
	return t.Write(o.Out)
}

func (o Output) texts(a answer) error {
	for _, row := range a.rows {
		text := strings.TrimRight(screen.EscapeLines(cell(row[0])), "\n")
		if _, err := fmt.Fprintln(o.Out, indent(text)); err != nil {
			return err
		}
	}
	return nil
}

// steps writes what the agent saw and did. The columns are those of the query: observation, action, reward, logprob.
func (o Output) steps(a answer) error {
	for i, row := range a.rows {
		_, err := fmt.Fprintf(o.Out, "%s\n%s\n  %s %s  %s\n", o.Style.Dim(fmt.Sprintf("  step %d", i)),
			indent(strings.TrimRight(screen.EscapeLines(cell(row[0])), "\n")), o.Style.Accent(">"), screen.Escape(cell(row[1])),
			o.Style.Dim("reward "+cell(row[2])))
		if err != nil {
			return err
		}
	}
	return nil
}

func indent(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }

// cell writes a value for people; NULL is empty.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case time.Time:
		return v.UTC().Format("2006-01-02 15:04:05.000")
	case float64:
		return strconv.FormatFloat(v, 'g', 6, 64)
	case float32:
		return strconv.FormatFloat(float64(v), 'g', 6, 32)
	}
	r := reflect.ValueOf(v)
	switch {
	case r.Kind() == reflect.Pointer && r.IsNil():
		return ""
	case r.Kind() == reflect.Pointer:
		return cell(r.Elem().Interface())
	case r.Kind() == reflect.Slice:
		parts := make([]string, r.Len())
		for i := range parts {
			parts[i] = cell(r.Index(i).Interface())
		}
		return strings.Join(parts, ", ")
	default:
		return fmt.Sprint(v)
	}
}

func isNumber(v any) bool {
	t := reflect.TypeOf(v)
	if t == nil {
		return false
	}
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.Kind() >= reflect.Int && t.Kind() <= reflect.Float64
}
