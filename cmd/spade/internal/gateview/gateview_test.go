package gateview_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/cmd/spade/internal/gateview"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/portable"
)

func report() (gate.Report, []portable.Finding) {
	return gate.Report{
		Stage: gate.StagePortable, Reason: "1 use that differs\x1b[2J", Nondeterministic: true,
		Checks: []gate.CheckResult{
			{Stage: gate.StageParse, OK: true},
			{Stage: gate.StagePortable, Reason: "1 use that differs\x1b[2J"},
			{Stage: gate.StageReference, Skipped: true, Reason: "no solve"},
		},
	}, []portable.Finding{{Line: 3, Column: 4, Message: "no ** in Starlark"}}
}

func TestText(t *testing.T) {
	r, findings := report()
	var out bytes.Buffer
	if err := gateview.Text(&out, r, findings, screen.Style{}); err != nil {
		t.Fatal(err)
	}
	want := "ok    parse\n" +
		"fail  portable       1 use that differs\\x1b[2J\n" +
		"                     " + findings[0].String() + "\n" +
		"skip  reference      no solve\n" +
		"refused at portable: 1 use that differs\\x1b[2J\n" +
		"a clock ended something: this result may differ next time\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
	out.Reset()
	if err := gateview.Text(&out, gate.Report{Accepted: true, Meta: gym.Meta{Title: "T", Kind: "game", MaxSteps: 3}}, nil, screen.Style{}); err != nil {
		t.Fatal(err)
	}
	if out.String() != "accepted  T (game, at most 3 steps)\n" {
		t.Errorf("got %q", out.String())
	}
}

func TestTextOfATraceback(t *testing.T) {
	reason := "on seed 1: Traceback:\n  env.star:6:19: in vowels\nError: \x1b[2J"
	r := gate.Report{Stage: gate.StageReset, Reason: reason, Checks: []gate.CheckResult{{Stage: gate.StageReset, Reason: reason}}}
	var out bytes.Buffer
	if err := gateview.Text(&out, r, nil, screen.Style{}); err != nil {
		t.Fatal(err)
	}
	want := "fail  reset          on seed 1: Traceback:\n" +
		"                       env.star:6:19: in vowels\n" +
		"                     Error: \\x1b[2J\n" +
		"refused at reset\n"
	if out.String() != want {
		t.Errorf("got\n%swant\n%s", out.String(), want)
	}
}

func TestJSON(t *testing.T) {
	r, findings := report()
	r.Meta.Title = "\u009b2J"
	var out bytes.Buffer
	if err := gateview.JSON(&out, r, findings); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Checks   []struct{ Stage, Result string }
		Portable []string
		Title    string
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	results := ""
	for _, c := range doc.Checks {
		results += c.Result + " "
	}
	if results != "ok fail skip " || len(doc.Portable) != 1 || doc.Title != "\u009b2J" || strings.ContainsRune(out.String(), 0x9b) {
		t.Errorf("%s, %v in\n%q", results, doc.Portable, out.String())
	}
}
