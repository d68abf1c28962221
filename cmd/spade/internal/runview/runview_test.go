package runview_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/cmd/spade/internal/runview"
	"github.com/seed256f7767/spade/cmd/spade/internal/screen"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func summary() app.Summary {
	return app.Summary{
		RunID: "c7c9284f-6315-5917-8d7b-676b16a03899", Name: "it's first", Iterations: 20, Designed: 160, Accepted: 141, Rejected: 19,
		Rollouts: 4512, Steps: 31204, FirstRegret: 0.4, LastRegret: -0.0125, FirstPlainReward: 0.2, LastPlainReward: 0.45,
		LogDigest: strings.Repeat("ab", 32), Nondeterministic: 2,
		Suites: []app.SuiteScore{{Suite: "development", Category: "math", Episodes: 96, Before: 0.1, After: 0.25}},
	}
}

func TestText(t *testing.T) {
	var out bytes.Buffer
	if err := runview.Text(&out, summary(), screen.Style{}, "bin/spade", "--data x"); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile("testdata/summary.golden", out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/summary.golden")
	if err != nil {
		t.Fatal(err)
	}
	if out.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
}

func TestARunOnAPoolSaysWhatItDrewFrom(t *testing.T) {
	var out bytes.Buffer
	sum := summary()
	sum.Pool, sum.Accepted, sum.Rejected = "other\x1b[2J", sum.Designed, 0
	if err := runview.Text(&out, sum, screen.Style{}, "spade", ""); err != nil {
		t.Fatal(err)
	}
	if want := `drawn         160 environments of pool other\x1b[2J`; !strings.Contains(out.String(), want) || strings.Contains(out.String(), "designed ") {
		t.Errorf("%s\nis not in\n%s", want, out.String())
	}
}

// TestJSONIsOneLine: a script reads the last line of the output.
func TestJSONIsOneLine(t *testing.T) {
	var out bytes.Buffer
	if err := runview.JSON(&out, summary()); err != nil {
		t.Fatal(err)
	}
	if strings.Count(out.String(), "\n") != 1 || !strings.HasSuffix(out.String(), "\n") {
		t.Errorf("%q", out.String())
	}
	var doc map[string]any
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{
		"run_id", "iterations", "designed", "accepted", "rejected", "rollouts", "steps", "first_regret", "last_regret",
		"first_plain_reward", "last_plain_reward", "log_digest",
	} {
		if _, ok := doc[key]; !ok {
			t.Errorf("%s is missing", key)
		}
	}
}
