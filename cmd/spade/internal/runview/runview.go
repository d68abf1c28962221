// Package runview writes what a run came to, and what to look at next. Begin with Text and JSON.
package runview

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/endpoints"
	"github.com/seed256f7767/spade/cmd/spade/internal/progress"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

// JSON writes the summary as one object on one line.
func JSON(w io.Writer, s app.Summary) error {
	enc := json.NewEncoder(screen.JSONWriter(w))
	enc.SetEscapeHTML(false)
	return enc.Encode(s)
}

// Text writes the summary as a table. program is how the next commands are called and flags are what they need to find the
// run again, such as "--data x".
func Text(w io.Writer, s app.Summary, style screen.Style, program, flags string) error {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s %s\n\n", style.Bold("run "+screen.Escape(s.Name)), style.Dim(s.RunID))
	row := func(name, format string, args ...any) {
		fmt.Fprintf(&b, "  %s  %s\n", style.Dim(screen.Pad(name, 12, false)), fmt.Sprintf(format, args...))
	}
	row("iterations", "%d", s.Iterations)
	if s.Pool != "" {
		row("drawn", "%s environments of pool %s", n(s.Designed), screen.Escape(s.Pool))
	} else {
		row("designed", "%s = %s accepted + %s rejected", n(s.Designed), n(s.Accepted), n(s.Rejected))
	}
	row("episodes", "%s, %s steps together", n(s.Rollouts), n(s.Steps))
	row("plain reward", "%.3f → %.3f", s.FirstPlainReward, s.LastPlainReward)
	if s.NoRegret {
		row("regret", "none")
	} else {
		row("regret", "%+.3f → %+.3f", s.FirstRegret, s.LastRegret)
	}
	row("log digest", "%s", s.LogDigest)
	if s.Nondeterministic > 0 {
		row("", "%s", style.Warn(fmt.Sprintf("a clock ended %d episodes: the digest may differ next time", s.Nondeterministic)))
	}
	if len(s.Suites) > 0 {
		if err := suites(&b, s.Suites); err != nil {
			return err
		}
	}
	next(&b, s, style, program, flags)
	_, err := io.WriteString(w, b.String())
	return err
}

func n(x int64) string { return progress.Items(x) }

// suites writes the held-out reward before and after, by category.
func suites(b *strings.Builder, scores []app.SuiteScore) error {
	t := screen.NewTable(
		screen.Column{Title: "  held-out suite"}, screen.Column{Title: "category"}, screen.Column{Title: "episodes", Right: true},
		screen.Column{Title: "before", Right: true}, screen.Column{Title: "after", Right: true}, screen.Column{Title: "change", Right: true},
	)
	for _, s := range scores {
		t.Add("  "+s.Suite, s.Category, s.Episodes, fmt.Sprintf("%.3f", s.Before), fmt.Sprintf("%.3f", s.After),
			fmt.Sprintf("%+.3f", s.After-s.Before))
	}
	b.WriteString("\n")
	return t.Write(b)
}

func next(b *strings.Builder, s app.Summary, style screen.Style, program, flags string) {
	if flags != "" {
		flags = " " + flags
	}
	name := endpoints.Quote(s.Name)
	fmt.Fprintf(b, "\n%s\n", style.Bold("next"))
	for _, c := range [][2]string{
		{"show", name},
		{"sql", `"SELECT iteration, accepted, reward_plain, reward_hinted, regret FROM iterations WHERE run_id = '` + s.RunID + `' ORDER BY iteration"`},
		{"events cat", "environments --run " + name},
		{"digest", name},
	} {
		fmt.Fprintf(b, "  %s %s%s %s\n", screen.Escape(program), c[0], flags, screen.Escape(c[1]))
	}
}
