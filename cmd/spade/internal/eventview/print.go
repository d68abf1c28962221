package eventview

import (
	"fmt"
	"io"
	"strings"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/schemas/event"
)

// Printer writes events as they come.
type Printer struct {
	Out     io.Writer
	JSON    bool         // one JSON object a line
	Columns int          // lines of text are cut to it; 0 = not at all
	Style   screen.Style // of lines of text
}

// Print writes one event.
func (p Printer) Print(ev event.Event) error {
	if p.JSON {
		line, err := JSON(ev)
		if err != nil {
			return err
		}
		_, err = screen.JSONWriter(p.Out).Write(append(line, '\n'))
		return err
	}
	line, err := p.line(ev)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.Out, line)
	return err
}

// line is the event as one line: where it stands, when it was made, what it is, and its payload.
func (p Printer) line(ev event.Event) (string, error) {
	msg, err := ev.Message()
	if err != nil {
		return "", err
	}
	payload, err := Message(msg)
	if err != nil {
		return "", err
	}
	_, kind, _ := strings.Cut(ev.Type, "v1.")
	at := fmt.Sprintf("%d@%d", ev.Partition, ev.Offset)
	when := ev.Time.UTC().Format("2006-01-02T15:04:05.000Z")
	text := screen.Escape(string(payload))
	if p.Columns > 0 {
		used := screen.Width(at) + screen.Width(when) + screen.Width(kind) + 6
		text = screen.Fit(text, max(20, p.Columns-used))
	}
	return fmt.Sprintf("%s  %s  %s  %s", p.Style.Dim(at), p.Style.Dim(when), p.Style.Bold(kind), text), nil
}
