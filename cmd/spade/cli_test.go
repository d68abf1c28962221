package main

import (
	"bytes"
	"context"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// result is what a command left behind.
type result struct {
	code        int
	out, stderr string
}

// spade runs the program in this process, in an empty folder, with no settings from outside.
func spade(t *testing.T, environ []string, args ...string) result {
	t.Helper()
	return spadeWith(t, "", environ, args...)
}

// spadeWith is spade with something to read from standard input.
func spadeWith(t *testing.T, stdin string, environ []string, args ...string) result {
	t.Helper()
	t.Chdir(t.TempDir())
	var out, stderr bytes.Buffer
	c := &cli{in: strings.NewReader(stdin), out: &out, err: &stderr, environ: environ}
	code := c.execute(context.Background(), args)
	return result{code, out.String(), stderr.String()}
}

// golden compares text with a file in testdata; -update rewrites it.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s differs, got:\n%s\nwant:\n%s", path, got, want)
	}
}

// testdata is the path of a golden file; absolute, because tests change the working directory.
func testdata(name string) string { return filepath.Join(golds, name) }

// golds is the folder of the golden files.
var golds string

func TestMain(m *testing.M) {
	if len(os.Args) > 1 { // the program's children run as this binary
		if child, ok := children()[os.Args[1]]; ok {
			os.Exit(child(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		}
	}
	dir, err := filepath.Abs("testdata")
	if err != nil {
		panic(err)
	}
	golds = dir
	goleak.VerifyTestMain(m)
}

func TestHelpOfEveryCommand(t *testing.T) {
	root := newRoot(&cli{})
	var names []string
	for _, cmd := range root.Commands() {
		if cmd.IsAvailableCommand() {
			names = append(names, cmd.Name())
		}
		for _, sub := range cmd.Commands() {
			names = append(names, cmd.Name()+" "+sub.Name())
		}
	}
	for _, name := range append(names, "") {
		path := testdata("help-" + strings.ReplaceAll(name, " ", "-") + ".golden")
		r := spade(t, nil, append(strings.Fields(name), "--help")...)
		if r.code != exitOK || r.stderr != "" {
			t.Errorf("%s --help: exit %d, %s", name, r.code, r.stderr)
		}
		golden(t, path, r.out)
	}
}

// TestEveryCommandShowsAnExample: a command that does something says how it is used.
func TestEveryCommandShowsAnExample(t *testing.T) {
	for _, cmd := range newRoot(&cli{}).Commands() {
		commands := append(cmd.Commands(), cmd)
		for _, c := range commands {
			if !c.HasSubCommands() && c.Example == "" {
				t.Errorf("%s shows no example", c.CommandPath())
			}
		}
	}
}

func TestConfigPrint(t *testing.T) {
	path := testdata("config-print.golden")
	environ := []string{"SPADE_KAFKA_USER=me", "SPADE_KAFKA_PASSWORD=canary", "SPADE_RUN_DESIGNS=3"}
	r := spade(t, environ, "config", "print", "--seed", "7")
	if r.code != exitOK || strings.Contains(r.out, "canary") {
		t.Fatalf("exit %d: %s", r.code, r.out)
	}
	golden(t, path, r.out)
}

func TestMistakesAreExitCode2AndSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		name    string
		environ []string
		args    []string
		want    string
	}{
		{"unknown command", nil, []string{"completon"}, "spade: spade has no command \"completon\"\n next: did you mean completion?\n"},
		{"nothing near", nil, []string{"xyzzyplugh"}, "spade: spade has no command \"xyzzyplugh\"\n next: spade --help lists the commands\n"},
		{"unknown subcommand", nil, []string{"config", "prin"}, "spade: spade config has no command \"prin\"\n next: did you mean print?\n"},
		{"unknown flag", nil, []string{"version", "--jsn"}, "spade: unknown flag: --jsn\n next: spade version --help lists the flags\n"},
		{"too many", nil, []string{"version", "x\x1b"}, "spade: spade version: unexpected argument \"x\\x1b\"\n next: spade version --help shows examples\n"},
		{"too few", nil, []string{"completion"}, "spade: spade completion: SHELL is missing\n next: spade completion --help shows examples\n"},
		{"bad flag", nil, []string{"config", "print", "--seed=x"}, "spade: invalid argument \"x\" for \"--seed\" flag: \"x\" is not a whole number from 0\n next: spade config print --help lists the flags\n"},
		{"bad variable", []string{"SPADE_RUN_SED=1"}, []string{"config", "print"}, "spade: SPADE_RUN_SED: is not a setting; did you mean SPADE_RUN_SEED?\n"},
		{"no such file", nil, []string{"config", "print", "--config", "none.yaml"}, "spade: read configuration: stat none.yaml: no such file or directory\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := spade(t, c.environ, c.args...)
			if r.code != exitUsage || r.stderr != c.want || r.out != "" {
				t.Errorf("exit %d\n%s%s\nwant\n%s", r.code, r.out, r.stderr, c.want)
			}
		})
	}
}

func TestVersionAndCompletion(t *testing.T) {
	if r := spade(t, nil, "version"); r.code != exitOK || !strings.HasPrefix(r.out, "spade ") {
		t.Errorf("%+v", r)
	}
	if r := spade(t, nil, "version", "--json"); !strings.HasPrefix(r.out, `{"arch":`) {
		t.Errorf("%+v", r)
	}
	for _, shell := range []string{"bash", "zsh", "fish", "powershell"} {
		if r := spade(t, nil, "completion", shell); r.code != exitOK || len(r.out) < 1000 {
			t.Errorf("%s: exit %d, %d bytes", shell, r.code, len(r.out))
		}
	}
	if r := spade(t, nil, "completion", "tcsh"); r.code != exitUsage {
		t.Errorf("tcsh: %+v", r)
	}
}
