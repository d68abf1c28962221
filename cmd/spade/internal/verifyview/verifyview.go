// Package verifyview shows what `spade verify` found. Begin with Write and WriteJSON.
package verifyview

import (
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/consumers/verify"
)

// maxShown is how many differences are named for people; --json has more of them.
const maxShown = 20

// View is where a verification goes.
type View struct {
	Out   io.Writer
	Style screen.Style
	// Areas are those that were verified; empty: all.
	Areas []string
}

func (v View) has(area string) bool { return len(v.Areas) == 0 || slices.Contains(v.Areas, area) }

// Write shows a verification to people.
func (v View) Write(r app.Verification) error {
	steps := []func(app.Verification) error{v.runs, v.events, v.tables, v.rest, v.letters, v.differences}
	for _, step := range steps {
		if err := step(r); err != nil {
			return err
		}
	}
	return nil
}

func (v View) title(text string) error {
	_, err := fmt.Fprintln(v.Out, v.Style.Bold(text))
	return err
}

func (v View) line(name, format string, args ...any) error {
	_, err := fmt.Fprintf(v.Out, "  %s  %s\n", v.Style.Dim(screen.Pad(name, 12, false)), screen.Escape(fmt.Sprintf(format, args...)))
	return err
}

// maxRuns is how many runs are shown; the rest is counted.
const maxRuns = 50

func (v View) runs(r app.Verification) error {
	if len(r.Runs) == 0 {
		return nil
	}
	if err := v.title("RUNS"); err != nil {
		return err
	}
	t := screen.NewTable(
		screen.Column{Title: "  name", Max: 40}, screen.Column{Title: "status"}, screen.Column{Title: "designed", Right: true},
		screen.Column{Title: "accepted", Right: true}, screen.Column{Title: "rejected", Right: true}, screen.Column{Title: "in flight", Right: true},
		screen.Column{Title: "rollouts", Right: true}, screen.Column{Title: "dropped", Right: true}, screen.Column{Title: "in flight", Right: true},
		screen.Column{Title: "policies", Right: true}, screen.Column{Title: "evaluations", Right: true},
	)
	for _, run := range r.Runs[:min(maxRuns, len(r.Runs))] {
		t.Add("  "+run.Name, run.Status, run.Designed, run.Accepted, run.Rejected, run.InFlight.Designs, run.Rollouts, run.Dropped,
			run.InFlight.Rollouts, run.Versions, run.Episodes)
	}
	if err := t.Write(v.Out); err != nil {
		return err
	}
	if n := len(r.Runs) - maxRuns; n > 0 {
		if _, err := fmt.Fprintf(v.Out, "  … and %d more\n", n); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(v.Out)
	return err
}

func (v View) events(r app.Verification) error {
	if err := v.title("LOG"); err != nil {
		return err
	}
	if r.Log != nil {
		if err := v.line("digest", "%x", r.Log.Sum()); err != nil {
			return err
		}
	}
	if err := v.line("events", "%d", r.Counts.Records); err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(r.Counts.ByType)) {
		if _, err := fmt.Fprintf(v.Out, "    %s %d\n", screen.Pad(screen.Escape(name), 22, false), r.Counts.ByType[name]); err != nil {
			return err
		}
	}
	for _, n := range []struct {
		name  string
		count int64
		what  string
	}{
		{"repeated", r.Counts.Repeated, "records with an id and payload that were there already; they change nothing"},
		{"contradicted", r.Counts.RepeatedOther, "records that repeat an id with another payload; the first counts"},
		{"void", r.Counts.VoidUpdates, "policy updates that were not the first of their version"},
		{"clock", r.Counts.Nondeterministic, "events in which a clock had a part"},
		{"retried", r.Counts.Retried, "dead letters' records that were appended again"},
	} {
		if n.count == 0 {
			continue
		}
		if err := v.line(n.name, "%d %s", n.count, n.what); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(v.Out)
	return err
}

func (v View) tables(r app.Verification) error {
	if !v.has(verify.AreaWarehouse) {
		return nil
	}
	if err := v.title("WAREHOUSE"); err != nil {
		return err
	}
	t := screen.NewTable(screen.Column{Title: "  table"}, screen.Column{Title: "log", Right: true}, screen.Column{Title: "warehouse", Right: true})
	for _, c := range r.Tables {
		t.Add("  "+c.Table, c.Log, c.Warehouse)
	}
	if t.Len() == 0 {
		_, err := fmt.Fprint(v.Out, "  no rows\n\n")
		return err
	}
	if err := t.Write(v.Out); err != nil {
		return err
	}
	_, err := fmt.Fprintf(v.Out, "  compared by %d keys\n\n", r.Keys)
	return err
}

func (v View) rest(r app.Verification) error {
	if v.has(verify.AreaMemory) {
		m := r.Memory
		if err := v.title("MEMORY"); err != nil {
			return err
		}
		if err := v.line("points", "%d environments, %d documents, %d withdrawn", m.Environments, m.Documents, m.Withdrawn); err != nil {
			return err
		}
		if m.Pending > 0 {
			if err := v.line("pending", "%d that the projection has not come to yet", m.Pending); err != nil {
				return err
			}
		}
		if _, err := fmt.Fprintln(v.Out); err != nil {
			return err
		}
	}
	if !v.has(verify.AreaCheckpoints) {
		return nil
	}
	if err := v.title("CHECKPOINTS"); err != nil {
		return err
	}
	c := r.Checkpoints
	if err := v.line("states", "%d in the log, %d stored, %d bytes", c.Inline, c.Stored, c.Bytes); err != nil {
		return err
	}
	_, err := fmt.Fprintln(v.Out)
	return err
}

func (v View) letters(r app.Verification) error {
	if len(r.Letters) == 0 {
		return nil
	}
	if err := v.title("DEAD LETTERS"); err != nil {
		return err
	}
	t := screen.NewTable(screen.Column{Title: "  id"}, screen.Column{Title: "record", Max: 40}, screen.Column{Title: "consumer", Max: 16},
		screen.Column{Title: "retried"}, screen.Column{Title: "error", Max: 60})
	for _, l := range r.Letters[:min(maxShown, len(r.Letters))] {
		retried := "no"
		if l.Retried {
			retried = "yes"
		}
		t.Add("  "+l.ID.String()[:8], l.Place, l.Consumer, retried, l.Error)
	}
	if err := t.Write(v.Out); err != nil {
		return err
	}
	if n := len(r.Letters) - maxShown; n > 0 {
		if _, err := fmt.Fprintf(v.Out, "  … and %d more; spade deadletters list shows them all\n", n); err != nil {
			return err
		}
	}
	_, err := fmt.Fprintln(v.Out)
	return err
}

// differences names what differs, and for each area that has none, that it has none.
func (v View) differences(r app.Verification) error {
	if r.AsIs {
		if _, err := fmt.Fprintln(v.Out, "as is: the log up to now is compared with what is there now; nothing was filled or waited for"); err != nil {
			return err
		}
	}
	for _, note := range r.Behind {
		if _, err := fmt.Fprintf(v.Out, "%s %s; what it has is compared\n", v.Style.Warn("behind"), screen.Escape(note)); err != nil {
			return err
		}
	}
	for i, d := range r.Differences {
		if i == maxShown {
			if _, err := fmt.Fprintf(v.Out, "… and %d more; --json names up to %d of each kind\n", r.Total-i, verify.MaxKept); err != nil {
				return err
			}
			break
		}
		if _, err := fmt.Fprintf(v.Out, "%s %s\n", v.Style.Bad("differs"), screen.Escape(d.String())); err != nil {
			return err
		}
	}
	if r.Total == 0 && len(r.Behind) > 0 {
		_, err := fmt.Fprintln(v.Out, "what was compared equals the log")
		return err
	}
	if r.Total == 0 {
		_, err := fmt.Fprintln(v.Out, v.Style.Good("everything equals the log"))
		return err
	}
	t := screen.NewTable(screen.Column{Title: "differences in"}, screen.Column{Title: "kind"}, screen.Column{Title: "count", Right: true})
	for _, s := range r.Sums {
		t.Add(s.Area, s.Kind, s.Count)
	}
	if _, err := fmt.Fprintln(v.Out); err != nil {
		return err
	}
	return t.Write(v.Out)
}
