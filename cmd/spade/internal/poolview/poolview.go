// Package poolview writes what an import of environments came to, and what to do with it next. Begin with Text and JSON.
package poolview

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/endpoints"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/gym/gate"
)

// JSON writes the import as one object on one line.
func JSON(w io.Writer, in app.Imported) error {
	enc := json.NewEncoder(screen.JSONWriter(w))
	enc.SetEscapeHTML(false)
	return enc.Encode(in)
}

// Settings are how an import is shown.
type Settings struct {
	Style   screen.Style
	Columns int    // of the terminal; 0 = no bound
	Program string // how the next commands are called
	Flags   string // what they need to find the data again, such as "--data x"
}

// widestName bounds the column of names, which takes no more than half of a terminal.
const widestName = 40

// Text writes the accepted environments, the rejected ones by the check that they failed, and what to do next.
func Text(w io.Writer, in app.Imported, set Settings) error {
	v := view{Settings: set}
	widest := widestName
	if set.Columns > 0 {
		widest = min(widest, set.Columns/2)
	}
	for _, e := range in.Entries {
		v.names = min(widest, max(v.names, screen.Width(screen.Escape(e.Name))))
	}
	heading := set.Style.Bold("pool " + screen.Escape(in.Name))
	if in.RunID != "" {
		heading += " " + set.Style.Dim(in.RunID)
	}
	fmt.Fprintf(&v.b, "\n%s\n", heading)
	v.accepted(in)
	for _, stage := range stages(in.Entries) {
		v.rejected(in, stage)
	}
	v.modules(in)
	v.absent(in.Absent)
	fmt.Fprintf(&v.b, "\n%d accepted + %d rejected = %d environments\n", in.Accepted, in.Rejected, len(in.Entries))
	if tiers := tiersOf(in.Entries); tiers != "" {
		fmt.Fprintf(&v.b, "%s\n", set.Style.Dim("sandbox "+tiers))
	}
	v.next(in)
	_, err := io.WriteString(w, v.b.String())
	return err
}

type view struct {
	Settings
	b     strings.Builder
	names int // columns of the longest name
}

func (v *view) accepted(in app.Imported) {
	if in.Accepted == 0 {
		return
	}
	fmt.Fprintf(&v.b, "\n%s\n", v.Style.Good(fmt.Sprintf("accepted: %d", in.Accepted)))
	for _, e := range in.Entries {
		if e.Accepted {
			v.line(e.Name, e.Kind+", "+e.Title)
		}
	}
}

func (v *view) rejected(in app.Imported, stage string) {
	n := 0
	for _, e := range in.Entries {
		if !e.Accepted && e.Stage == stage {
			n++
		}
	}
	fmt.Fprintf(&v.b, "\n%s\n", v.Style.Bad(fmt.Sprintf("rejected at %s: %d", screen.Escape(stage), n)))
	for _, e := range in.Entries {
		if !e.Accepted && e.Stage == stage {
			v.line(e.Name, lastLine(e.Reason))
		}
	}
}

// modules says what to do about sources that import what is not there.
func (v *view) modules(in app.Imported) {
	for _, e := range in.Entries {
		if !e.Accepted && e.Package == "" && strings.Contains(e.Reason, "ModuleNotFoundError") {
			text := "--package NAME brings an installed package set"
			if in.RunID != "" { // the log keeps this verdict
				text += ", under another --name"
			}
			fmt.Fprintf(&v.b, "  %s\n", v.Style.Dim(text))
			return
		}
	}
}

// shownAbsent is how many environments that cannot be imported are named.
const shownAbsent = 8

func (v *view) absent(list []app.AbsentEntry) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(&v.b, "\n%s\n", v.Style.Warn(fmt.Sprintf("cannot be imported: %d", len(list))))
	for i, e := range list {
		if i == shownAbsent {
			fmt.Fprintf(&v.b, "  %s\n", v.Style.Dim(fmt.Sprintf("and %d more; --json lists them", len(list)-i)))
			break
		}
		v.line(e.Name, e.Reason)
	}
}

// line is a name and a text beside it, cut to the terminal.
func (v *view) line(name, text string) {
	line := "  " + screen.Pad(screen.Fit(screen.Escape(name), v.names), v.names, false) + "  " + screen.Escape(text)
	if v.Columns > 0 {
		line = screen.Fit(line, v.Columns)
	}
	fmt.Fprintln(&v.b, strings.TrimRight(line, " "))
}

// lastLine is what a traceback ends in, and all of a reason that is none.
func lastLine(reason string) string {
	lines := strings.Split(strings.TrimSpace(reason), "\n")
	if len(lines) == 1 {
		return lines[0]
	}
	return strings.TrimSpace(lines[len(lines)-1])
}

// stages are those at which something was rejected, in the order in which the gate judges.
func stages(entries []app.ImportedEntry) []string {
	var found []string
	for _, e := range entries {
		if !e.Accepted && !slices.Contains(found, e.Stage) {
			found = append(found, e.Stage)
		}
	}
	order := gate.Stages()
	slices.SortStableFunc(found, func(a, b string) int { return slices.Index(order, a) - slices.Index(order, b) })
	return found
}

func tiersOf(entries []app.ImportedEntry) string {
	var tiers []string
	for _, e := range entries {
		if e.Tier != "" && !slices.Contains(tiers, e.Tier) {
			tiers = append(tiers, e.Tier)
		}
	}
	slices.Sort(tiers)
	return strings.Join(tiers, ", ")
}

func (v *view) next(in app.Imported) {
	if in.RunID == "" || in.Accepted == 0 {
		return
	}
	flags := ""
	if v.Flags != "" {
		flags = " " + v.Flags
	}
	fmt.Fprintf(&v.b, "\n%s\n", v.Style.Bold("next"))
	for _, c := range [][2]string{
		{"run", "--designer " + endpoints.Quote("fixed:"+in.Name)},
		{"sql", `"SELECT name, status, reject_stage, reject_reason FROM environments WHERE run_id = '` + in.RunID + `'"`},
	} {
		fmt.Fprintf(&v.b, "  %s %s%s %s\n", screen.Escape(v.Program), c[0], flags, screen.Escape(c[1]))
	}
}
