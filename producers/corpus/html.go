package corpus

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

func readHTML(_ context.Context, cfg Config, in input, out sink) error {
	data, p := readAll(cfg, in)
	if p == nil {
		data, p = decodeHTML(in.source, data)
	}
	if p != nil {
		out.problem(p)
		return nil
	}
	title, text, err := htmlText(data)
	if err != nil {
		out.problem(&Problem{Path: in.source, Class: ErrMalformed, Cause: err})
		return nil
	}
	if text == "" {
		out.problem(&Problem{Path: in.source, Class: ErrEmpty})
		return nil
	}
	if cleanTitle(title) == "" {
		title = markdownTitle(text)
	}
	return out.doc(newDocument(in.source, title, text, mediaHTML))
}

// decodeHTML makes a page UTF-8. A page that is not must declare its encoding: none is guessed.
func decodeHTML(source string, data []byte) ([]byte, *Problem) {
	if utf8.Valid(data) {
		if class, cause := checkText(data); class != nil {
			return nil, &Problem{Path: source, Class: class, Cause: cause}
		}
		return data, nil
	}
	enc, name := declaredEncoding(data)
	if enc == encoding.Nop || name == "utf-8" {
		return nil, &Problem{Path: source, Class: ErrEncoding, Cause: errors.New("and it declares no other encoding")}
	}
	decoded, err := enc.NewDecoder().Bytes(data)
	if err != nil {
		return nil, &Problem{Path: source, Class: ErrEncoding, Cause: fmt.Errorf("decode %s: %w", name, err)}
	}
	if !utf8.Valid(decoded) {
		return nil, &Problem{Path: source, Class: ErrEncoding, Cause: fmt.Errorf("nor is it after decoding %s", name)}
	}
	return decoded, nil
}

// declaredEncoding is the encoding that a page's byte order mark or meta element names, or encoding.Nop.
func declaredEncoding(data []byte) (encoding.Encoding, string) {
	if enc, name, certain := charset.DetermineEncoding(data, ""); certain {
		return enc, name
	}
	// Where nothing is declared, DetermineEncoding guesses: UTF-8 if the text is that, else windows-1252. Given ASCII and
	// one UTF-8 character, its guess is UTF-8 and any other answer was declared.
	head := []byte("é")
	for _, c := range data[:min(len(data), 1000)] {
		if c < utf8.RuneSelf {
			head = append(head, c)
		}
	}
	enc, name, _ := charset.DetermineEncoding(head, "")
	return enc, name
}

// htmlText extracts the title and the text of a page. Headings and lists come out as Markdown writes them, cells of a
// table are separated by " | ", and scripts, styles and navigation are left out.
func htmlText(data []byte) (title, text string, err error) {
	z := html.NewTokenizer(bytes.NewReader(data))
	var w htmlWriter
	for {
		switch z.Next() {
		case html.ErrorToken:
			if err := z.Err(); !errors.Is(err, io.EOF) {
				return "", "", fmt.Errorf("read html: %w", err)
			}
			return w.title.String(), normalise(w.out.String()), nil
		case html.TextToken:
			w.text(z.Token().Data)
		case html.StartTagToken, html.SelfClosingTagToken:
			w.start(z.Token().DataAtom)
		case html.EndTagToken:
			w.end(z.Token().DataAtom)
		case html.CommentToken, html.DoctypeToken:
		}
	}
}

// htmlWriter writes the text of a page. The zero value is ready.
type htmlWriter struct {
	out     strings.Builder
	title   strings.Builder
	inTitle bool
	skipped atom.Atom // the element whose content is left out
	depth   int       // of elements of that name inside it
	pre     int
	lists   []int // of every open list the number of its last item, or -1 for a list without numbers
	breaks  int   // line feeds due before the next text
	space   bool  // a space is due before the next text
	cells   int   // in the current row of a table
	fresh   bool  // a marker such as "- " was just written
}

// start handles the start of an element.
func (w *htmlWriter) start(a atom.Atom) {
	switch {
	case w.depth > 0:
		if a == w.skipped {
			w.depth++
		}
	case leftOut(a):
		w.skipped, w.depth = a, 1
	case a == atom.Title:
		w.inTitle = w.title.Len() == 0
	case a == atom.Br:
		w.brk(1)
	case a == atom.Td, a == atom.Th:
		w.cell()
	case a == atom.Ul:
		w.list(-1)
	case a == atom.Ol:
		w.list(0)
	case a == atom.Li:
		w.item()
	default:
		w.block(a)
	}
}

// block handles the start of an element that stands on lines of its own.
func (w *htmlWriter) block(a atom.Atom) {
	w.brk(blockBreaks(a))
	switch a {
	case atom.Pre:
		w.pre++
	case atom.Tr:
		w.cells = 0
	case atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6:
		w.mark(strings.Repeat("#", headingLevel(a)) + " ")
	}
}

// end handles the end of an element.
func (w *htmlWriter) end(a atom.Atom) {
	switch {
	case w.depth > 0:
		if a == w.skipped {
			w.depth--
		}
	case a == atom.Title:
		w.inTitle = false
	case a == atom.Ul, a == atom.Ol:
		if len(w.lists) > 0 {
			w.lists = w.lists[:len(w.lists)-1]
		}
		w.brk(2)
	case a == atom.Td, a == atom.Th:
		w.breaks = 0
	case a == atom.Pre:
		w.pre = max(0, w.pre-1)
		w.brk(2)
	default:
		w.brk(blockBreaks(a))
	}
}

// text handles text between tags.
func (w *htmlWriter) text(s string) {
	switch {
	case w.depth > 0:
	case w.inTitle:
		w.title.WriteString(s)
	case w.pre > 0:
		w.flush()
		w.out.WriteString(s)
	default:
		w.flow(s)
	}
}

// flow writes text whose white space means no more than one space.
func (w *htmlWriter) flow(s string) {
	for i, word := range strings.FieldsFunc(s, htmlSpace) {
		if i > 0 || htmlSpace(rune(s[0])) {
			w.space = true
		}
		w.flush()
		w.out.WriteString(word)
	}
	if s != "" && htmlSpace(rune(s[len(s)-1])) {
		w.space = true
	}
}

func htmlSpace(r rune) bool { return r == ' ' || r == '\n' || r == '\t' || r == '\r' || r == '\f' }

// brk makes sure that at least n line feeds stand before what follows.
func (w *htmlWriter) brk(n int) {
	if n > 0 && w.pre > 0 {
		n = 1
	}
	w.breaks = max(w.breaks, n)
}

// flush writes the line feeds and the space that are due.
func (w *htmlWriter) flush() {
	switch {
	case w.fresh:
	case w.breaks > 0:
		if w.out.Len() > 0 {
			w.out.WriteString(strings.Repeat("\n", w.breaks))
		}
	case w.space && w.out.Len() > 0:
		w.out.WriteByte(' ')
	}
	w.breaks, w.space, w.fresh = 0, false, false
}

// mark writes a marker at the beginning of a line; blocks right after it do not break it off.
func (w *htmlWriter) mark(s string) {
	w.flush()
	w.out.WriteString(s)
	w.fresh = true
}

func (w *htmlWriter) cell() {
	w.cells++
	if w.cells == 1 {
		w.mark("")
		return
	}
	w.breaks, w.space = 0, false
	w.mark(" | ")
}

func (w *htmlWriter) list(number int) {
	w.brk(2 - min(1, len(w.lists)))
	w.lists = append(w.lists, number)
}

// item begins an item of a list; deeper lists are indented.
func (w *htmlWriter) item() {
	w.brk(1)
	if len(w.lists) == 0 {
		w.mark("- ")
		return
	}
	indent := strings.Repeat("  ", min(len(w.lists)-1, 8))
	last := &w.lists[len(w.lists)-1]
	if *last < 0 {
		w.mark(indent + "- ")
		return
	}
	*last++
	w.mark(indent + strconv.Itoa(*last) + ". ")
}

// leftOut reports whether an element's content is no text of the page.
func leftOut(a atom.Atom) bool {
	switch a {
	case atom.Script, atom.Style, atom.Noscript, atom.Template, atom.Svg, atom.Math, atom.Nav, atom.Iframe, atom.Object, atom.Select, atom.Button:
		return true
	}
	return false
}

// blockBreaks is how many line feeds stand around an element.
func blockBreaks(a atom.Atom) int {
	switch a {
	case atom.P, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Blockquote, atom.Table, atom.Section,
		atom.Article, atom.Header, atom.Footer, atom.Aside, atom.Main, atom.Figure, atom.Dl, atom.Hr, atom.Form:
		return 2
	case atom.Div, atom.Tr, atom.Dt, atom.Dd, atom.Li, atom.Caption, atom.Figcaption, atom.Summary, atom.Details, atom.Body, atom.Head,
		atom.Option, atom.Legend, atom.Fieldset, atom.Address:
		return 1
	}
	return 0
}

func headingLevel(a atom.Atom) int {
	return strings.Index("123456", strings.TrimPrefix(a.String(), "h")) + 1
}
