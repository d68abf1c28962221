package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// source writes an environment's source and returns its path.
func source(t *testing.T, code string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "env.star")
	if err := os.WriteFile(path, []byte(code), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// guess is an environment that is solved by the number that its observation shows.
const guess = `
META = {"title": "Say the number", "kind": "reasoning", "max_steps": 2, "tools": []}

def reset(seed):
    n = rng.randint(100, 999)
    return {"n": n, "t": 0, "ok": False}, "The number is " + text.str(n) + ".", {}

def step(state, action):
    s = {"n": state["n"], "t": state["t"] + 1, "ok": action == "say " + text.str(state["n"])}
    return s, "Said.", 1.0 if s["ok"] else 0.0, s["ok"], not s["ok"] and s["t"] >= 2, {}

def verify(state):
    return 1.0 if state["ok"] else 0.0

def hint(state):
    return "Say what the observation shows."

def solve(state):
    return ["say " + text.str(state["n"])]
`

func TestEnvPlay(t *testing.T) {
	r := spadeWith(t, "no\n:quit\n", nil, "env", "play", "--seed", "3", source(t, guess))
	if r.code != exitOK || !strings.Contains(r.out, "Say the number  reasoning, at most 2 steps, seed 3") ||
		!strings.Contains(r.out, "step 1: reward 0.000") {
		t.Errorf("%+v", r)
	}
}

// A device has no end, a pipe may have no writer, and neither is waited for.
func TestEnvReadsRegularFilesOnly(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe.py")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range [][]string{{"check"}, {"play"}, {"import", "--dry-run"}} {
		for _, path := range []string{"/dev/zero", pipe} {
			if command[0] == "import" && path != pipe {
				continue // its name is no source's
			}
			r := spade(t, nil, append(append([]string{"env"}, command...), path)...)
			if r.code != exitFailure || !strings.Contains(r.stderr, path+" is no regular file") {
				t.Errorf("%s: %+v", command, r)
			}
		}
	}
	large := source(t, strings.Repeat("#", 262145))
	if r := spade(t, nil, "env", "check", large); r.code != exitFailure || !strings.Contains(r.stderr, "has more than the 262144 bytes") {
		t.Errorf("%+v", r)
	}
}

func TestEnvPlaySaysWhatIsWrongWithASource(t *testing.T) {
	for name, c := range map[string]struct{ code, want string }{
		"does not parse":         {"def reset(seed:\n", "spade: parse: env.star:1:"},
		"panics the interpreter": {"x = list(range(1 << 62))\n", "spade: load:"},
		"is no environment":      {"x = 1\n", "spade: meta: there is no function reset"},
	} {
		r := spade(t, nil, "env", "play", source(t, c.code))
		if r.code != exitFailure || !strings.Contains(r.stderr, c.want) {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if r := spade(t, nil, "env", "play", "none.star"); r.code != exitFailure || !strings.Contains(r.stderr, "none.star: no such file") {
		t.Errorf("no file: %+v", r)
	}
	if r := spade(t, nil, "env", "play"); r.code != exitUsage {
		t.Errorf("no argument: %+v", r)
	}
}

func TestEnvCheck(t *testing.T) {
	accepted := testdata("env-check-accepted.golden")
	refused := testdata("env-check-refused.golden")
	r := spade(t, nil, "env", "check", "--portable", source(t, guess))
	if r.code != exitOK || r.stderr != "" {
		t.Errorf("exit %d, %s", r.code, r.stderr)
	}
	golden(t, accepted, r.out)
	leaky := strings.Replace(guess, `"Say what the observation shows."`, `"The number is " + text.str(state["n"]) + ". Say it, and be quick."`, 1)
	unsolvable := strings.Replace(leaky, `"say " + text.str(state["n"])]`, `"say nothing"]`, 1)
	r = spade(t, nil, "env", "check", source(t, unsolvable))
	if r.code != exitFailure || r.stderr != "" {
		t.Errorf("exit %d, %s", r.code, r.stderr)
	}
	golden(t, refused, r.out)
}

func TestEnvCheckForScripts(t *testing.T) {
	r := spade(t, nil, "env", "check", "--json", "--portable", source(t, strings.Replace(guess, "rng.randint(100, 999)", "2 ** 9", 1)))
	var report struct {
		Accepted bool
		Stage    string
		Portable []string
		Checks   []struct{ Stage, Result string }
	}
	if err := json.Unmarshal([]byte(r.out), &report); err != nil {
		t.Fatalf("%v in %s", err, r.out)
	}
	if r.code != exitFailure || report.Accepted || report.Stage == "" || len(report.Checks) == 0 {
		t.Errorf("exit %d, %+v", r.code, report)
	}
}

// A name that does not tell the language is not taken for Starlark; a flag may tell it.
func TestEnvCheckWantsToKnowTheLanguage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "README.md")
	if err := os.WriteFile(path, []byte(guess), 0o600); err != nil {
		t.Fatal(err)
	}
	if r := spade(t, nil, "env", "check", path); r.code != exitUsage || !strings.Contains(r.stderr, "README.md ends in neither .py nor .star") {
		t.Errorf("%+v", r)
	}
	if r := spade(t, nil, "env", "check", path, "--runtime", "starlark"); r.code != exitOK {
		t.Errorf("with its runtime: %+v", r)
	}
}

// An import that is not there has a next step, which is no part of the reason.
func TestAMissingModuleHasANextStep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "own.py")
	if err := os.WriteFile(path, []byte("import nosuchmodule\n"+guess), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, command := range []string{"check", "play"} {
		r := spade(t, nil, "env", command, path, "--sandbox", "limits")
		if out := r.out + r.stderr; r.code != exitFailure || !strings.Contains(out, "next: --package NAME brings an installed package set") {
			t.Errorf("%s: %+v", command, r)
		}
	}
	if r := spade(t, nil, "env", "check", path, "--json", "--sandbox", "limits"); strings.Contains(r.out, "--package") {
		t.Errorf("the reason: %s", r.out)
	}
}
