package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/cmd/spade/internal/app"
	"github.com/seed256f7767/spade/consumers/verify"
)

// TestWhatVerifyFindsDecidesItsExitCode: equal is 0, different is 1 with the first difference and what to do, a wrong call 2.
func TestWhatVerifyFindsDecidesItsExitCode(t *testing.T) {
	var out, stderr bytes.Buffer
	c := &cli{out: &out, err: &stderr}
	if err := c.printVerification(app.Verification{}, false, nil); err != nil || !strings.Contains(out.String(), "everything equals the log") {
		t.Errorf("%v: %s", err, out.String())
	}
	out.Reset()
	err := c.printVerification(app.Verification{Behind: []string{"the memory has not come to 3 of its points"}}, false, nil)
	if code := c.report(context.Background(), err); code != exitFailure || strings.Contains(out.String(), "everything equals") ||
		!strings.Contains(stderr.String(), "not all was compared: the memory has not come to 3 of its points") {
		t.Errorf("behind: exit %d, %s%s", code, out.String(), stderr.String())
	}
	for asIs, next := range map[bool]string{true: "without --as-is", false: "once they get on"} {
		stderr.Reset()
		err := c.printVerification(app.Verification{Behind: []string{"x"}, AsIs: asIs}, false, nil)
		if code := c.report(context.Background(), err); code != exitFailure || !strings.Contains(stderr.String(), next) {
			t.Errorf("behind, as is %t: exit %d, %s", asIs, code, stderr.String())
		}
	}
	out.Reset()
	if err := c.printVerification(app.Verification{Behind: []string{"x"}}, true, nil); err == nil || !strings.Contains(out.String(), `"ok": false`) {
		t.Errorf("%v: %s", err, out.String())
	}
	for _, area := range verify.Areas() {
		found := verify.Finding{Area: area, Kind: "missing", Subject: "it", Detail: "of\x1b[2J that"}
		err := c.printVerification(app.Verification{
			Differences: []verify.Finding{found}, Total: 3, Sums: []verify.Sum{{Area: area, Kind: "missing", Count: 3}},
			Letters: []verify.Letter{{}},
		}, true, nil)
		stderr.Reset()
		if code := c.report(context.Background(), err); code != exitFailure {
			t.Errorf("%s: exit %d", area, code)
		}
		said := stderr.String()
		if !strings.Contains(said, "in 3 places; the first is in the "+area+": missing it") || !strings.Contains(said, "next:") || strings.Contains(said, "\x1b") {
			t.Errorf("%s: %q", area, said)
		}
		if rebuild := area == verify.AreaWarehouse || area == verify.AreaMemory; rebuild != strings.Contains(said, "spade rebuild --"+area) {
			t.Errorf("%s: %q", area, said)
		}
	}
	for _, args := range [][]string{{"verify", "--only", "everything"}, {"verify", "a", "b"}, {"deadletters", "retry"}, {"deadletters", "retry", "--all", "1234"}} {
		if r := spade(t, nil, args...); r.code != exitUsage {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// A folder that was mistyped is not made, and what made it there not hidden behind an empty answer.
func TestReadingNothingMakesNothing(t *testing.T) {
	data := filepath.Join(t.TempDir(), "mistyped")
	for _, args := range [][]string{{"runs"}, {"sql", "SELECT 1"}, {"show", "demo"}, {"events", "cat", "runs"}, {"verify"}, {"rebuild"}} {
		r := spade(t, nil, append(args, "--data", data)...)
		if r.code != exitFailure || !strings.Contains(r.stderr, "there is no data folder "+data+" (--data)") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if _, err := os.Stat(data); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the folder: %v", err)
	}
}

// TestAFreshFolder: commands that read what is not there yet say so in a sentence.
func TestAFreshFolder(t *testing.T) {
	environ, data := environment(t)
	for _, args := range [][]string{{"sql", "SELECT * FROM runs"}, {"show", "demo"}} {
		r := spade(t, environ, append(args, "--data", data)...)
		if r.code != exitFailure || !strings.Contains(r.stderr, "the warehouse has no tables yet") || strings.Contains(r.stderr, "code: 60") {
			t.Errorf("%v: %+v", args, r)
		}
	}
	if r := spade(t, environ, "deadletters", "list", "--data", data); r.code != exitOK || !strings.Contains(r.stderr, "no dead letters") {
		t.Errorf("%+v", r)
	}
	if r := spade(t, environ, "deadletters", "retry", "1234abcd", "--data", data); r.code != exitFailure || !strings.Contains(r.stderr, "no such dead letter") {
		t.Errorf("%+v", r)
	}
	if r := spade(t, environ, "verify", "--as-is", "--data", data); r.code != exitFailure || !strings.Contains(r.stderr, "nothing of the log was written yet") ||
		!strings.Contains(r.stderr, "spade verify without --as-is fills it") {
		t.Errorf("%+v", r)
	}
	if r := spade(t, environ, "sql", "SELECT 1 FROM runs", "--data", data); !strings.Contains(r.stderr, "the warehouse has no tables yet") {
		t.Errorf("looking made tables: %+v", r)
	}
	if r := spade(t, environ, "verify", "--json", "--data", data); r.code != exitOK || !strings.Contains(r.out, `"ok": true`) {
		t.Errorf("%+v", r)
	}
	if r := spade(t, environ, "verify", "none", "--data", data); r.code != exitFailure || !strings.Contains(r.stderr, "no such run") {
		t.Errorf("%+v", r)
	}
	if r := spade(t, environ, "verify", "--as-is", "--data", data); r.code != exitOK || !strings.Contains(r.out, "compared with what is there now") {
		t.Errorf("%+v", r)
	}
	r := spade(t, environ, "sql", "SELECT * FROM nothing", "--data", data)
	if r.code != exitFailure || !strings.Contains(r.stderr, "no such table or view: nothing") {
		t.Errorf("%+v", r)
	}
}
