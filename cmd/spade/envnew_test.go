package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// spadeIn runs the program in a folder.
func spadeIn(t *testing.T, dir, stdin string, args ...string) result {
	t.Helper()
	t.Chdir(dir)
	var out, stderr bytes.Buffer
	c := &cli{in: strings.NewReader(stdin), out: &out, err: &stderr}
	code := c.execute(context.Background(), args)
	return result{code, out.String(), stderr.String()}
}

func TestEnvNew(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Mkdir("sub folder", 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args, file, holds string
	}{
		{"--kind game", "game.star", "def reset(seed):"},
		{"--kind tools --runtime python", "tools.py", "import json"},
		{"--kind reasoning --form class", "reasoning.py", "class Env:"},
		{"--kind reasoning mine.py", "mine.py", "def reset(seed):"},
		{"--kind game --runtime python plain", "plain", "def reset(seed):"},
		{"--kind game sub|folder", "sub folder/game.star", "META"},
		{"--kind game -- -x.star", "-x.star", "META"},
	} {
		args := strings.Fields("env new " + c.args)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "|", " ")
		}
		r := spadeIn(t, dir, "", args...)
		code, err := os.ReadFile(c.file)
		if r.code != exitOK || r.stderr != "" || err != nil || !strings.Contains(string(code), c.holds) {
			t.Errorf("%s: %+v, %v", c.args, r, err)
		}
		if !strings.Contains(r.out, "wrote "+c.file+"\n") {
			t.Errorf("%s: %s", c.args, r.out)
		}
	}
	r := spadeIn(t, dir, "", "env", "new", "--kind", "tools", "mine.py")
	code, err := os.ReadFile("mine.py")
	if r.code != exitFailure || !strings.Contains(r.stderr, "mine.py is there") || !strings.Contains(r.stderr, "nothing was written") ||
		err != nil || !strings.Contains(string(code), `"reasoning"`) {
		t.Errorf("over a file: %+v, %v", r, err)
	}
}

func TestEnvNewSaysWhatToDo(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	out := ""
	for _, args := range [][]string{{"--kind", "game"}, {"--kind", "game", "--runtime", "python", "it's"}, {"--kind", "game", "--", "-x.star"}} {
		out += spadeIn(t, dir, "", append([]string{"env", "new"}, args...)...).out + "\n"
	}
	golden(t, filepath.Join(golds, "env-new.golden"), out)
}

func TestEnvNewRefuses(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"", exitUsage, "--kind is missing: reasoning, tools, game"},
		{"--kind puzzle", exitUsage, `--kind "puzzle" is none of`},
		{"--kind game --runtime lua", exitUsage, `--runtime "lua" is none of starlark, python`},
		{"--kind game --form odd", exitUsage, `--form "odd" is none of`},
		{"--kind game --form class --runtime starlark", exitUsage, "--form class needs --runtime python"},
		{"--kind game --form class a.star", exitUsage, "--form class needs --runtime python"},
		{"--kind game --runtime starlark a.py", exitUsage, "a file called a.py holds python"},
		{"--kind game a b", exitUsage, "unexpected argument"},
		{"--kind game none/a.py", exitFailure, "no such file or directory"},
	} {
		r := spadeIn(t, dir, "", append([]string{"env", "new"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.stderr, c.want) || r.out != "" {
			t.Errorf("%s: %+v", c.args, r)
		}
	}
	if left, err := os.ReadDir("."); err != nil || len(left) != 0 {
		t.Errorf("%v, %v", left, err)
	}
}

// What env new writes, env check accepts and env play plays, in both languages.
func TestEnvNewCheckAndPlay(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for _, args := range []string{"--kind game", "--kind tools --runtime python", "--kind reasoning --form class r.py"} {
		if r := spadeIn(t, dir, "", append([]string{"env", "new"}, strings.Fields(args)...)...); r.code != exitOK {
			t.Fatalf("%+v", r)
		}
	}
	for _, file := range []string{"game.star", "tools.py", "r.py"} {
		if r := spadeIn(t, dir, "", "env", "check", file); r.code != exitOK || !strings.Contains(r.out, "accepted  ") {
			t.Errorf("%s: %+v", file, r)
		}
		if r := spadeIn(t, dir, "x\n:hint\n:quit\n", "env", "play", file); r.code != exitOK || !strings.Contains(r.out, "step 1: reward 0.000") {
			t.Errorf("%s: %+v", file, r)
		}
	}
}

func TestEnvSourceFlags(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if r := spadeIn(t, dir, "", "env", "new", "--kind", "game", "--runtime", "python", "plain"); r.code != exitOK {
		t.Fatalf("%+v", r)
	}
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"plain --runtime python", exitOK, "accepted"},
		{"plain", exitUsage, "next: --runtime starlark or --runtime python"},
		{"plain --runtime lua", exitUsage, `--runtime "lua" is none of`},
		{"plain --runtime starlark --package gymnasium", exitUsage, "--package is for Python"},
		{"plain --runtime python --package nothing", exitFailure, `"nothing" is none of the package sets gymnasium`},
	} {
		r := spadeIn(t, dir, "", append([]string{"env", "check"}, strings.Fields(c.args)...)...)
		if r.code != c.code || !strings.Contains(r.out+r.stderr, c.want) {
			t.Errorf("%s: %+v", c.args, r)
		}
	}
}

// A portable source is played in both runtimes.
func TestEnvCheckPortable(t *testing.T) {
	alike := source(t, guess)
	r := spade(t, nil, "env", "check", "--portable", alike)
	if r.code != exitOK || !strings.Contains(r.out, "ok    both_runtimes") {
		t.Errorf("%+v", r)
	}
	// The same text in a file of Python is played in Starlark.
	other := strings.TrimSuffix(alike, ".star") + ".py"
	if err := os.Rename(alike, other); err != nil {
		t.Fatal(err)
	}
	r = spade(t, nil, "env", "check", "--portable", other)
	if r.code != exitOK || !strings.Contains(r.out, "ok    both_runtimes") {
		t.Errorf("%+v", r)
	}
	// Equality of a number and a truth value is what the static check cannot see.
	r = spade(t, nil, "env", "check", "--portable", source(t, strings.Replace(guess, `"Said."`, `text.str([s["t"]] == [True])`, 1)))
	if r.code != exitFailure || !strings.Contains(r.out, "fail  both_runtimes") || !strings.Contains(r.out, "is not the same in python") {
		t.Errorf("%+v", r)
	}
}
