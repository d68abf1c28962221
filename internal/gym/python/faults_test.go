package python_test

import (
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/python/pythontest"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// stepping is a source whose step runs some lines first.
func stepping(lines string) string {
	return `
import os, sys

META = {"title": "Steps", "kind": "game", "max_steps": 5}


class Wicked(str):
    def __str__(self):
        raise ValueError("no text")
    __repr__ = __eq__ = __hash__ = __str__


def deeper(n):
    return deeper(n + 1)


def reset(seed):
    return {"n": 0}, "go", {}


def step(state, action):
    reward, ends, cut, info, observation = 0.0, False, False, {}, "there"
` + indent(lines) + `
    return state, observation, reward, ends, cut, info


def hint(state):
    return "none"


def verify(state):
    return 1.0
`
}

func indent(lines string) string {
	return "    " + strings.ReplaceAll(lines, "\n", "\n    ")
}

// Whatever a source does in a step comes back as a typed outcome, and the traceback has the source's own frames only.
func TestSteps(t *testing.T) {
	driver := pythontest.Start(t, "{}")
	tests := []struct {
		name, lines, action string
		outcome             wire.Outcome
		cause               wire.Cause
		text                string
	}{
		{"exception", "1 // 0", "a", wire.EnvError, wire.CauseException, "File \"env.py\", line 23, in step\n    1 // 0\nZeroDivisionError"},
		{"exception of a module function", "text.chr(-1)", "a", wire.EnvError, wire.CauseException, "in step\n    text.chr(-1)\nValueError: no such code point"},
		{"exit", "sys.exit(3)", "a", wire.EnvError, wire.CauseException, "SystemExit: 3"},
		{"interrupt", "raise KeyboardInterrupt", "a", wire.EnvError, wire.CauseException, "KeyboardInterrupt"},
		{"end of a generator", "raise GeneratorExit", "a", wire.EnvError, wire.CauseException, "GeneratorExit"},
		{"exception without a text", "class E(Exception):\n    def __str__(self): raise ValueError\nraise E()", "a", wire.EnvError, wire.CauseException, "its text raises"},
		{"exception whose text is none", "class E(Exception):\n    def __str__(self): return 3\nraise E()", "a", wire.EnvError, wire.CauseException, "its text raises"},
		{"exception with a long text", "raise ValueError('é' * 10_000)", "a", wire.EnvError, wire.CauseException, "…"},
		{"exception with a surrogate", "raise ValueError('\\ud800')", "a", wire.EnvError, wire.CauseException, "ValueError: ?"},
		{"exception with an address", "raise ValueError([object(), object()])", "a", wire.EnvError, wire.CauseException, "ValueError: [<object object at 0x…>, <object object at 0x…>]"},
		{"the platform's own fault", "from spade_worker.faults import Fault\nraise Fault('timeout', 'x', 'solved')", "a", wire.EnvError, wire.CauseException, "Fault: x"},
		{"memory", "'x' * (1 << 60)", "a", wire.EnvError, wire.CauseMemory, "MemoryError"},
		{"recursion", "deeper(0)", "a", wire.EnvError, wire.CauseRecursion, "RecursionError"},
		{"nothing", "return None", "a", wire.EnvError, wire.CauseShape, "NoneType, want 6 values"},
		{"five values", "return state, 'x', 0.0, False, False", "a", wire.EnvError, wire.CauseShape, "5 values, want 6"},
		{"a text of six", "return 'abcdef'", "a", wire.EnvError, wire.CauseShape, "str, want 6 values"},
		{"reward is true", "reward = True", "a", wire.EnvError, wire.CauseShape, "reward of step is a bool"},
		{"reward is a text", "reward = '1'", "a", wire.EnvError, wire.CauseShape, "reward of step is a str"},
		{"reward is not a number", "reward = float('nan')", "a", wire.EnvError, wire.CauseReward, "nan"},
		{"reward is endless", "reward = float('inf')", "a", wire.EnvError, wire.CauseReward, "inf"},
		{"reward is too large for a float", "reward = 10 ** 400", "a", wire.EnvError, wire.CauseReward, "inf"},
		{"flags are numbers", "ends = 1", "a", wire.EnvError, wire.CauseShape, "int and bool, want bools"},
		{"a set in the state", "state['x'] = {1, 2}", "a", wire.EnvError, wire.CauseShape, "not a JSON value: a set"},
		{"a number as a key", "state[1] = 2", "a", wire.EnvError, wire.CauseShape, "dictionary key of type int"},
		{"keys of two types", "state['x'] = {1: 2, 'a': 3}", "a", wire.EnvError, wire.CauseShape, "dictionary key of type int"},
		{"a key that is none", "state['x'] = {None: 2}", "a", wire.EnvError, wire.CauseShape, "dictionary key of type NoneType"},
		{"state in itself", "state['x'] = state", "a", wire.EnvError, wire.CauseShape, "nested deeper"},
		{"bytes in the state", "state['x'] = b'a'", "a", wire.EnvError, wire.CauseShape, "a bytes"},
		{"huge number in the state", "state['x'] = 10 ** 5000", "a", wire.EnvError, wire.CauseShape, "1000 digits"},
		{"large number in the state", "state['x'] = 10 ** 1000", "a", wire.EnvError, wire.CauseShape, "1000 digits"},
		{"NaN in the state", "state['x'] = float('nan')", "a", wire.EnvError, wire.CauseShape, "the number nan"},
		{"huge state", "state['x'] = 'x' * (2 << 20)", "a", wire.EnvError, wire.CauseLimit, "size limit of 1048576"},
		{"surrogate in the state", "state['x'] = '\\ud800'", "a", wire.TextEncoding, wire.CauseEncoding, "UTF-8"},
		{"surrogate as a key", "state['\\udfff'] = 1", "a", wire.TextEncoding, wire.CauseEncoding, "UTF-8"},
		{"a text that is none", "state['x'] = Wicked('é')", "a", wire.Ongoing, "", ""},
		{"observation is a list", "observation = []", "a", wire.EnvError, wire.CauseShape, "observation of step: is a list"},
		{"observation of a surrogate", "observation = 'a\\ud83d\\ude00'", "a", wire.TextEncoding, wire.CauseEncoding, "observation"},
		{"observation with NUL", "observation = 'a\\0b'", "a", wire.Ongoing, "", ""},
		{"huge observation", "observation = 'é' * 200_000", "a", wire.EnvError, wire.CauseLimit, "400000"},
		{"info is a list", "info = []", "a", wire.EnvError, wire.CauseShape, "info of step is a list"},
		{"info of an object", "info = {'x': object()}", "a", wire.EnvError, wire.CauseShape, "a object"},
		{"info with a number as a key", "info = {1: 2}", "a", wire.EnvError, wire.CauseShape, "key of type int"},
		{"huge info", "info = {'x': 'y' * 70_000}", "a", wire.EnvError, wire.CauseLimit, "info"},
		{"actions are numbers", "info = {'actions': [1]}", "a", wire.EnvError, wire.CauseShape, "entry 0: is a int"},
		{"actions are a text", "info = {'actions': 'up'}", "a", wire.EnvError, wire.CauseShape, "is a str, want a list"},
		{"actions of a surrogate", "info = {'actions': ['\\ud800']}", "a", wire.TextEncoding, wire.CauseEncoding, "info"},
		{"return above one", "reward, ends = 1.5, True", "a", wire.EnvError, wire.CauseReward, "1.5, outside"},
		{"return below zero", "reward, ends = -0.5, True", "a", wire.EnvError, wire.CauseReward, "-0.5, outside"},
		{"verify contradicts", "reward, ends = 0.5, True", "a", wire.VerifierError, wire.CauseMismatch, "verify says 1.0"},
		{"solved", "reward, ends = 1, True", "a", wire.Solved, "", ""},
		{"cut is not solved", "reward, cut = 1, True", "a", wire.Failed, "", ""},
		{"variables of the system", "observation = repr(dict(os.environ))\nassert observation == '{}'", "a", wire.Ongoing, "", ""},
		{"arguments", "assert sys.argv == [''] and sys.orig_argv == [''], sys.argv", "a", wire.Ongoing, "", ""},
		{"input", "try:\n    input()\nexcept EOFError:\n    observation = 'end'", "a", wire.Ongoing, "", ""},
		{"output", "print('\\ud800' * 100, flush=True)\nprint('x' * 1000, file=sys.stderr)\nos.write(1, b'\\0' * 100)", "a", wire.Ongoing, "", ""},
		{"output is closed", "sys.stdout.close()\nsys.stderr.close()\nsys.stdin.close()\nos.close(1)", "a", wire.Ongoing, "", ""},
		{"descriptor of the results is closed", "try:\n    os.close(3)\nexcept OSError:\n    pass", "a", wire.Ongoing, "", ""},
		{"tracing", "def f(*a):\n    return f\nsys.settrace(f)\nsys.setprofile(f)", "a", wire.Ongoing, "", ""},
		{"modules are changed", "import json, hashlib\njson.dumps = json.loads = hashlib.sha256 = os.write = os.read = None", "a", wire.Ongoing, "", ""},
		{"threads that never end", "import threading, time\nthreading.Thread(target=lambda: time.sleep(1000)).start()", "a", wire.Ongoing, "", ""},
		{"exit functions", "import atexit, time\natexit.register(time.sleep, 1000)", "a", wire.Ongoing, "", ""},
		{"action with NUL", "assert action == 'a\\0é'", "a\x00é", wire.Ongoing, "", ""},
		{"action of ten megabytes", "1", strings.Repeat("x", 10<<20), wire.Overlong, wire.CauseLimit, "10485760"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if loaded := driver.Load(stepping(tt.lines), wire.DefaultLimits()); loaded.Stage != "" {
				t.Fatalf("%+v", loaded)
			}
			if started := driver.Reset(wire.Reset{}); started.Outcome != wire.Ongoing {
				t.Fatalf("%+v", started)
			}
			got := driver.Step(wire.Action{Text: tt.action})
			if got.Outcome != tt.outcome || got.Cause != tt.cause || !strings.Contains(got.Error, tt.text) {
				t.Errorf("outcome %q, cause %q, error %q", got.Outcome, got.Cause, got.Error)
			}
			if strings.Contains(got.Error, "spade_worker") || strings.Contains(got.Error, "/spade") {
				t.Errorf("the error tells of the platform: %s", got.Error)
			}
			if len(got.Error) > 4<<10+100 {
				t.Errorf("the error has %d bytes", len(got.Error))
			}
		})
	}
}

// What is wrong with a source is found at its stage.
func TestSources(t *testing.T) {
	driver := pythontest.Start(t, "{}")
	whole := stepping("1")
	tests := []struct {
		name, code, stage string
		cause             wire.Cause
		text              string
	}{
		{"syntax", "def f(:", "parse", wire.CauseException, "env.py:1:7: invalid syntax"},
		{"not UTF-8", "x = '\xff'", "parse", wire.CauseException, "not UTF-8"},
		{"NUL", "x = 1\ny\x00", "parse", wire.CauseException, "env.py:2:2: a source has no null bytes"},
		{"NUL first", "\x00", "parse", wire.CauseException, "env.py:1:1: a source"},
		{"deep nesting", strings.Repeat("(", 100_000), "parse", wire.CauseException, "too many nested"},
		{"deep sum", "x = " + strings.Repeat("-", 50_000) + "1", "parse", wire.CauseException, ""},
		{"exception", "\n\nx = 1 // 0", "load", wire.CauseException, "File \"env.py\", line 3, in <module>\n    x = 1 // 0\nZeroDivisionError"},
		{"exit", "raise SystemExit", "load", wire.CauseException, "SystemExit"},
		{"no such module", "import nothing_of_the_kind", "load", wire.CauseException, "No module named 'nothing_of_the_kind'"},
		{"randomness", "x = rng.random()", "load", wire.CauseException, "no randomness here"},
		{"empty", "", "meta", wire.CauseShape, "no function reset, and no class Env"},
		{"no step", "def reset(seed): pass", "meta", wire.CauseShape, "no function step"},
		{"no function", "reset = 3\ndef step(s, a): pass\ndef hint(s): pass\ndef verify(s): pass", "meta", wire.CauseShape, "reset is a int"},
		{"no META", strings.Replace(whole, "META", "MEAT", 1), "meta", wire.CauseShape, "no META"},
		{"kind", strings.Replace(whole, `"game"`, `"fun"`, 1), "meta", wire.CauseShape, "kind must be"},
		{"title", strings.Replace(whole, `"Steps"`, `""`, 1), "meta", wire.CauseShape, "title must be"},
		{"blank title", strings.Replace(whole, `"Steps"`, `" \u3000 "`, 1), "meta", wire.CauseShape, "title must be"},
		{"title with a NUL", strings.Replace(whole, `"Steps"`, `"a\0b"`, 1), "meta", wire.CauseShape, "title must be"},
		{"title of two lines", strings.Replace(whole, `"Steps"`, `"a\nb"`, 1), "meta", wire.CauseShape, "title must be"},
		{"title that controls", strings.Replace(whole, `"Steps"`, `"a\x9b2J"`, 1), "meta", wire.CauseShape, "title must be"},
		{"long title", strings.Replace(whole, `"Steps"`, `"é" * 101`, 1), "meta", wire.CauseShape, "title must be"},
		{"max_steps is true", strings.Replace(whole, "5}", "True}", 1), "meta", wire.CauseShape, "max_steps must be"},
		{"many steps", strings.Replace(whole, "5}", "1001}", 1), "meta", wire.CauseShape, "max_steps must be"},
		{"unknown key", strings.Replace(whole, "5}", `5, "speed": 1}`, 1), "meta", wire.CauseShape, "unknown key 'speed'"},
		{"tools", strings.Replace(whole, "5}", `5, "tools": [1]}`, 1), "meta", wire.CauseShape, "JSON Schemas"},
		{"tools that are not JSON", strings.Replace(whole, "5}", `5, "tools": [{"a": {1}}]}`, 1), "meta", wire.CauseShape, "not a JSON value"},
		{"META of its own kind", whole + "\nclass Meta(dict):\n    def get(self, name): raise ValueError\nMETA = Meta(META)", "meta", wire.CauseException, "ValueError"},
		{"well", strings.Replace(whole, "5}", `5, "tools": [{"b": 1, "a": {}}]}`, 1), "", "", ""},
		{"platform's names", "import spade_worker.serve\nassert __name__ == 'env'\n" + whole, "", "", ""},
		{"byte order mark", "\ufeff" + whole, "", "", ""},
		{"title of many planes", strings.Replace(whole, `"Steps"`, `" \U0001f600 é "`, 1), "", "", ""},
		{"data class", "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n" + whole, "", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := driver.Load(tt.code, wire.DefaultLimits())
			if got.Stage != tt.stage || got.Fault.Cause != tt.cause || !strings.Contains(got.Fault.Error, tt.text) {
				t.Errorf("%+v", got)
			}
		})
	}
}

// Hints, solutions and verdicts are taken from a copy of the state, and what changes the state says nothing.
func TestJudgement(t *testing.T) {
	driver := pythontest.Start(t, "{}")
	source := func(hint, verify, solve string) string {
		return `
META = {"title": "Judged", "kind": "game", "max_steps": 1}

def reset(seed):
    return {"n": [1]}, "go", {}

def step(state, action):
    return state, "", 0.0, False, False, {}

def hint(state):
    ` + hint + `

def verify(state):
    ` + verify + `

def solve(state):
    ` + solve + "\n"
	}
	const well = "return 'x'"
	tests := []struct {
		name, hint, verify, solve string
		outcome                   wire.Outcome
		cause                     wire.Cause
	}{
		{"well", well, "return 0", "return ['a']", wire.Failed, ""},
		{"hint changes", "state['n'].append(2); return 'x'", "return 0", "return []", wire.EnvError, wire.CauseMutation},
		{"hint is none", "return None", "return 0", "return []", wire.EnvError, wire.CauseShape},
		{"hint draws", "return str(rng.random())", "return 0", "return []", wire.EnvError, wire.CauseException},
		{"long hint", "return 'x' * 70000", "return 0", "return []", wire.EnvError, wire.CauseLimit},
		{"solve changes", well, "return 0", "state['n'] = (2,); return []", wire.EnvError, wire.CauseMutation},
		{"solution of numbers", well, "return 0", "return [1]", wire.EnvError, wire.CauseShape},
		{"verify changes", well, "state.clear(); return 0", "return []", wire.VerifierError, wire.CauseMutation},
		{"verify fails", well, "raise ValueError", "return []", wire.VerifierError, wire.CauseException},
		{"verify is a bool", well, "return False", "return []", wire.VerifierError, wire.CauseShape},
		{"verify is too much", well, "return 2", "return []", wire.VerifierError, wire.CauseReward},
		{"verify is not finite", well, "return float('nan')", "return []", wire.VerifierError, wire.CauseReward},
		{"verify is silent", well, "pass", "return []", wire.VerifierError, wire.CauseShape},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if loaded := driver.Load(source(tt.hint, tt.verify, tt.solve), wire.DefaultLimits()); loaded.Stage != "" {
				t.Fatalf("%+v", loaded)
			}
			fault := driver.Reset(wire.Reset{WantHint: true, WantSolve: true}).Fault
			if fault.Outcome == wire.Ongoing {
				got := driver.Step(wire.Action{})
				if fault = got.Fault; !got.Truncated || got.Terminated {
					t.Errorf("%+v", got)
				}
			}
			if fault.Outcome != tt.outcome || fault.Cause != tt.cause {
				t.Errorf("%+v", fault)
			}
		})
	}
}
