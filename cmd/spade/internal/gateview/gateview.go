// Package gateview writes what the acceptance gate found, for people and scripts. Begin with Text and JSON; Line and Verdict write a text as it comes about.
package gateview

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/portable"
)

const indent = "                     " // to where reasons begin

// Text writes a line for each check and a verdict.
func Text(w io.Writer, r gate.Report, findings []portable.Finding, style screen.Style) error {
	for _, c := range r.Checks {
		if err := Line(w, c, findings, style); err != nil {
			return err
		}
	}
	return Verdict(w, r, style)
}

// Line writes what came of one check.
func Line(w io.Writer, c gate.CheckResult, findings []portable.Finding, style screen.Style) error {
	var b strings.Builder
	mark := style.Good("ok  ")
	switch {
	case c.Skipped:
		mark = style.Dim("skip")
	case !c.OK:
		mark = style.Bad("fail")
	}
	line := fmt.Sprintf("%s  %-14s %s", mark, c.Stage, strings.ReplaceAll(screen.EscapeLines(c.Reason), "\n", "\n"+indent))
	fmt.Fprintln(&b, strings.TrimRight(line, " "))
	if c.Stage == gate.StagePortable {
		for _, f := range findings {
			fmt.Fprintf(&b, "%s%s\n", indent, screen.Escape(fmt.Sprint(f)))
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Verdict writes what the gate decided.
func Verdict(w io.Writer, r gate.Report, style screen.Style) error {
	var b strings.Builder
	switch {
	case r.Accepted:
		fmt.Fprintf(&b, "%s  %s (%s, at most %d steps)\n", style.Good("accepted"), screen.Escape(r.Meta.Title), screen.Escape(r.Meta.Kind), r.Meta.MaxSteps)
	case strings.Contains(r.Reason, "\n"): // a traceback, printed above
		fmt.Fprintf(&b, "%s at %s\n", style.Bad("refused"), r.Stage)
	default:
		fmt.Fprintf(&b, "%s at %s: %s\n", style.Bad("refused"), r.Stage, screen.Escape(r.Reason))
	}
	if r.Nondeterministic {
		fmt.Fprintln(&b, style.Warn("a clock ended something: this result may differ next time"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// document is a report as a script reads it.
type document struct {
	Accepted         bool     `json:"accepted"`
	Stage            string   `json:"stage,omitempty"`
	Reason           string   `json:"reason,omitempty"`
	Title            string   `json:"title,omitempty"`
	Kind             string   `json:"kind,omitempty"`
	MaxSteps         int      `json:"max_steps,omitempty"`
	Tier             string   `json:"sandbox_tier"`
	Nondeterministic bool     `json:"nondeterministic"`
	Checks           []check  `json:"checks"`
	Portable         []string `json:"portable,omitempty"`
	Stats            stats    `json:"stats"`
}

// stats are gate.Stats by the names that scripts use.
type stats struct {
	SourceBytes       int     `json:"source_bytes"`
	Seeds             int     `json:"seeds"`
	Episodes          int     `json:"episodes"`
	Steps             int     `json:"steps"`
	DistinctStarts    int     `json:"distinct_starts"`
	ReferenceSteps    float64 `json:"reference_steps"`
	ReferenceStepsMax int     `json:"reference_steps_max"`
	RandomReturn      float64 `json:"random_return"`
	RandomSolved      float64 `json:"random_solved"`
	RandomSteps       float64 `json:"random_steps"`
	WrongSolved       int     `json:"wrong_solved"`
	ActionsMean       float64 `json:"actions_mean"`
	ObservationBytes  int     `json:"observation_bytes"`
	HintBytes         int     `json:"hint_bytes"`
}

type check struct {
	Stage  string `json:"stage"`
	Result string `json:"result"` // "ok", "fail", "skip"
	Reason string `json:"reason,omitempty"`
}

// JSON writes the report as one object.
func JSON(w io.Writer, r gate.Report, findings []portable.Finding) error {
	doc := document{
		Accepted: r.Accepted, Stage: r.Stage, Reason: r.Reason, Title: r.Meta.Title, Kind: r.Meta.Kind, MaxSteps: r.Meta.MaxSteps,
		Tier: r.Tier, Nondeterministic: r.Nondeterministic, Stats: stats(r.Stats), Checks: []check{},
	}
	for _, c := range r.Checks {
		result := "ok"
		switch {
		case c.Skipped:
			result = "skip"
		case !c.OK:
			result = "fail"
		}
		doc.Checks = append(doc.Checks, check{c.Stage, result, c.Reason})
	}
	for _, f := range findings {
		doc.Portable = append(doc.Portable, fmt.Sprint(f))
	}
	enc := json.NewEncoder(screen.JSONWriter(w))
	enc.SetIndent("", "  ")
	return enc.Encode(doc)
}
