package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
)

// Each refusal is one change of counting.py.
func TestRefusesPython(t *testing.T) {
	const (
		verdict = `return 1.0 if state["n"] == state["goal"] else 0.0`
		paid    = "1.0 if done else 0.0"
		silent  = `return ""`
	)
	tests := []struct{ name, stage, reason, old, new string }{
		{"does not parse", gate.StageParse, "env.py:", "def verify(state):", "def verify(state"},
		{"NUL in the source", gate.StageParse, "", "ACTIONS =", "\x00ACTIONS ="},
		{"endless import", gate.StageLoad, "", "ACTIONS =", "while True: pass\nACTIONS ="},
		{"import that exits", gate.StageLoad, "", "ACTIONS =", "import os; os._exit(0)\nACTIONS ="},
		{"import that leaves", gate.StageLoad, "SystemExit", "ACTIONS =", "raise SystemExit(0)\nACTIONS ="},
		{"import that fails", gate.StageLoad, "No module named 'nothing'", "ACTIONS =", "import nothing\nACTIONS ="},
		{"import that eats memory", gate.StageLoad, "", "ACTIONS =", "x = bytearray(1 << 30)\nx[::4096] = b'x' * len(x[::4096])\nACTIONS ="},
		{"bad kind", gate.StageMeta, "kind", `"game"`, `"puzzle"`},
		{"a title that is none", gate.StageMeta, "title", `"Counting"`, `type("T", (str,), {"__len__": lambda s: 3})()`},
		{"no verify", gate.StageMeta, "verify", "def verify", "def verify_"},
		{"no step", gate.StageMeta, "step", "def step", "def step_"},
		{"reset of two", gate.StageReset, "2 values", `return state, show(state), {"actions": ACTIONS}` + "\n\n\ndef step", "return state, show(state)\n\n\ndef step"},
		{"state not JSON", gate.StageReset, "JSON", `"n": 0,`, `"n": 0, "s": {1, 2},`},
		{"state of NaN", gate.StageReset, "", `"n": 0,`, `"n": 0, "s": float("nan"),`},
		{"state that is itself", gate.StageReset, "nested", `"n": 0,`, `"n": 0, "s": (lambda l: l.append(l) or l)([]),`},
		{"info not JSON", gate.StageReset, "JSON", `{"actions": ACTIONS}` + "\n\n\ndef step", `{"actions": ACTIONS, "f": show}` + "\n\n\ndef step"},
		{"info of numbers", gate.StageReset, "", `{"actions": ACTIONS}` + "\n\n\ndef step", `{1: 2}` + "\n\n\ndef step"},
		{"surrogate in the observation", gate.StageReset, "UTF-8", silent, `return "\ud800"`},
		{"surrogate in an action", gate.StageReset, "UTF-8", `"stay"]`, `"stay", "\udfff"]`},
		{"surrogate in the hint", gate.StageReset, "UTF-8", `return f"Say`, `return "\ud800" + f"Say`},
		{"surrogate in the solution", gate.StageReset, "UTF-8", `return ["up"] *`, `return ["\udc00"] *`},
		{"observation of bytes", gate.StageReset, "bytes", `return f"The counter is at {state['n']} and should be at {state['goal']}.{noise(state)}"`, `return b"x"`},
		{"observation of ten megabytes", gate.StageReset, "size limit", silent, `return "x" * 10_000_000`},
		{"solution of ten megabytes", gate.StageReset, "size limit", `return ["up"] *`, `return ["x" * 10_000_000] + ["up"] *`},
		{"hint not text", gate.StageReset, "hint", `return f"Say`, `return 1 #`},
		{"solve changes the state", gate.StageReset, "changed the state", `return ["up"]`, `state["n"] = 1; return ["up"]`},
		{"endless recursion", gate.StageReset, "Recursion", silent, "return noise(state)"},
		{"recursion without a limit", gate.StageReset, "", silent, "import sys; sys.setrecursionlimit(10**9); return noise(state)"},
		{"a number of a hundred million digits", gate.StageReset, "", silent, "return str(10**10**8 % 7)"},
		{"a pattern that takes for ever", gate.StageReset, "", silent, "import re; return str(re.match('(a+)+$', 'a' * 60 + 'b'))"},
		{"exit in step", gate.StageRun, "", "    done = state", "    import os; os._exit(0)\n    done = state"},
		{"leave in step", gate.StageRun, "SystemExit", "    done = state", "    exit(0) if 'exit' in dir(__builtins__) else (_ for _ in ()).throw(SystemExit(0))\n    done = state"},
		{"prints without end", gate.StageRun, "printed more than", "    done = state", "    while True: print('x' * 100_000)\n    done = state"},
		{"a thread for every call", gate.StageRun, "can't start new thread", "    done = state", "    import threading, time\n    threading.Thread(target=lambda: time.sleep(1e6), daemon=True).start()\n    done = state"},
		{"a new process", gate.StageRun, "Error", "    done = state", "    import os\n    os._exit(0) if os.fork() == 0 else 0\n    done = state"},
		{"the network", gate.StageRun, "Error", "    done = state", "    import socket\n    socket.create_connection(('127.0.0.1', 9))\n    done = state"},
		{"endless step", gate.StageRun, "", "    done = state", "    while state['n'] == 0: pass\n    done = state"},
		{"step fails on junk", gate.StageRun, "KeyError", "    done = state", "    {a: 1 for a in ACTIONS}[action]\n    done = state"},
		{"interrupts itself", gate.StageRun, "KeyboardInterrupt", "    done = state", "    raise KeyboardInterrupt\n    done = state"},
		{"five values", gate.StageRun, "5 values", `done, False, {"actions": ACTIONS}`, "done, False"},
		{"reward of a bool", gate.StageRun, "bool", paid, "done"},
		{"reward of a text", gate.StageRun, "str", paid, `"1"`},
		{"reward of nothing", gate.StageRun, "NoneType", paid, "None"},
		{"flags of numbers", gate.StageRun, "bools", "done, False, {", "int(done), 0, {"},
		{"error whose text never ends", gate.StageRun, "", "    done = state", "    class E(Exception):\n        def __str__(self):\n            while True: pass\n    raise E\n    done = state"},
		{"error whose text fails", gate.StageRun, "E:", "    done = state", "    class E(Exception):\n        def __str__(self): raise self\n    raise E\n    done = state"},
		{"finaliser that never ends", gate.StageRun, "", "    done = state", "    class D:\n        def __del__(self):\n            while True: pass\n    D()\n    done = state"},
		{"trace that never ends", gate.StageRun, "", "    done = state", "    import sys\n    def t(*a):\n        while True: pass\n    sys.settrace(t)\n    show(state)\n    done = state"},
		{"truncates where it should terminate", gate.StageTerminates, "what is solved must terminate", "done, False, {", "False, done, {"},
		{"both ends at once", gate.StageTerminates, "both terminated and truncated", "done, False, {", "done, done, {"},
		{"never ends", gate.StageTerminates, "do not end", "done, False, {", "False, False, {"},
		{"reward that is no number", gate.StageRewards, "nan", paid, `float("nan")`},
		{"reward without end", gate.StageRewards, "inf", paid, `float("inf")`},
		{"reward too large to be one", gate.StageRewards, "", paid, `10**400`},
		{"return of two", gate.StageRewards, "outside [0, 1]", paid, "2.0 if done else 0.0"},
		{"verify changes the state", gate.StageVerify, "changed the state", verdict, `state["n"] = 0; ` + verdict},
		{"verify fails", gate.StageVerify, "ZeroDivisionError", verdict, `return 1 / 0`},
		{"verify says nothing", gate.StageVerify, "NoneType", verdict, `pass`},
		{"verify says yes", gate.StageVerify, "bool", verdict, `return True`},
		{"verify says NaN", gate.StageVerify, "nan", verdict, `return float("nan")`},
		{"verify says two", gate.StageVerify, "outside [0, 1]", verdict, `return 2.0`},
		{"verify quarrels", gate.StageVerify, "verify says", verdict, `return 0.5`},
		{"verify draws", gate.StageVerify, "", verdict, "rng.random(); " + verdict},
		{"verify is always content", gate.StageVerify, "cut short", verdict, `return 1.0`},
		{"verify takes for ever", gate.StageRun, "", verdict, "while True: pass"},
		{"everything is right", gate.StageWrong, "three wrong", `done = state["n"] == state["goal"]`, `state["n"] = state["goal"]; done = True`},
		{"hint in the observation", gate.StageHint, "of the hint", silent, "return ' ' + hint(state) + ' That is all there is to do.'"},
	}
	p := pythonPool(t, gym.Config{CallTimeout: time.Second, LoadTimeout: 3 * time.Second, MemoryBytes: 128 << 20})
	base := read(t, "testdata/counting.py")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code := changed(t, base, tt.old, tt.new)
			if tt.stage == gate.StageHint {
				code = changed(t, code, `times."`, `times. That is all there is to do."`)
			}
			began := time.Now()
			r := checkPython(t, p, code, gate.Options{})
			if r.Accepted || r.Stage != tt.stage || !strings.Contains(r.Reason, tt.reason) {
				t.Errorf("accepted %v, stage %q, reason %q", r.Accepted, r.Stage, r.Reason)
			}
			if r.Reason == "" || strings.Contains(r.Reason, "spade_worker") {
				t.Errorf("reason %q", r.Reason)
			}
			t.Logf("%v %s", time.Since(began).Round(time.Millisecond), r.Reason)
		})
	}
}

// Each call is within its limit, and there are hundreds of them.
func TestRefusesWhatIsSlow(t *testing.T) {
	p := pythonPool(t, gym.Config{})
	base := read(t, "testdata/counting.py")
	sleep := "import time\n    time.sleep(0.2)\n    "
	for name, c := range map[string]struct{ old, new, stage string }{
		"every step":        {"    done = state", "    " + sleep + "done = state", gate.StageRun},
		"every reset":       {"    state = {", "    " + sleep + "state = {", gate.StageRun},
		"only without hint": {"def hint(state):", "def hint(state):\n    import math as m\n    m.told = True", gate.StageDeterministic},
	} {
		t.Run(name, func(t *testing.T) {
			code := changed(t, base, c.old, c.new)
			if c.stage == gate.StageDeterministic {
				code = changed(t, code, `return ""`, "import math as m\n    if not hasattr(m, 'told'):\n        import time; time.sleep(1)\n    return ''")
			}
			limit := 1500 * time.Millisecond
			began := time.Now()
			r := checkPython(t, p, code, gate.Options{TimeLimit: limit})
			for r.Stage == gate.StageRun && c.stage != r.Stage && limit < 20*time.Second {
				limit *= 4 // the machine was so slow that even the first play took too long, which never sleeps
				began = time.Now()
				r = checkPython(t, p, code, gate.Options{TimeLimit: limit})
			}
			if r.Accepted || r.Stage != c.stage || !strings.Contains(r.Reason, fmt.Sprintf("gives up after %v", limit)) || !r.Nondeterministic {
				t.Errorf("accepted %v, stage %q, nondeterministic %v: %s", r.Accepted, r.Stage, r.Nondeterministic, r.Reason)
			}
			if took := time.Since(began); took > limit+20*time.Second {
				t.Errorf("it took %v", took)
			}
		})
	}
}

// What an environment does to its own process, and what it prints, is no reason to refuse it as long as it plays by the
// rules.
func TestAcceptsOddPython(t *testing.T) {
	p := pythonPool(t, gym.Config{MemoryBytes: 128 << 20})
	base := read(t, "testdata/counting.py")
	for name, c := range map[string]struct{ old, new string }{
		"prints":               {"ACTIONS =", "import sys\nprint('accepted', flush=True)\nprint('solved', file=sys.stderr)\nACTIONS ="},
		"prints a lot":         {"def noise(state):", "def noise(state):\n    print('x' * 10_000)"},
		"NUL is text":          {`return ""`, `return "\0"`},
		"far planes are text":  {`return ""`, `return "\U0001f600\u0301"`},
		"closes its output":    {"ACTIONS =", "import os\nfor fd in 1, 2:\n    try: os.close(fd)\n    except OSError: pass\nACTIONS ="},
		"a text of its own":    {"    return state, show(state), 1.0", "    class S(str):\n        def encode(self, *a):\n            while True: pass\n        __str__ = __repr__ = __len__ = __hash__ = encode\n    return state, S(show(state)), 1.0"},
		"a number of its own":  {"1.0 if done else 0.0", "type('F', (float,), {'__float__': lambda s: 1 / 0, '__add__': lambda s, o: 7.0})(1.0 if done else 0.0)"},
		"a list of its own":    {"ACTIONS = [", "class L(list):\n    def __len__(self): return 0\n    def __iter__(self): return iter(())\nACTIONS = ["},
		"a thread that stays":  {"ACTIONS =", "import threading, time\nif not threading.active_count() > 1:\n    threading.Thread(target=lambda: time.sleep(1e6), daemon=True).start()\nACTIONS ="},
		"a tracer":             {"ACTIONS =", "import sys\nsys.settrace(lambda *a: None)\nACTIONS ="},
		"globals of its own":   {"def noise(state):\n", "turns = 0\n\ndef noise(state):\n    global turns\n    turns += 1\n    return str(turns)\n"},
		"a module of its own":  {"ACTIONS =", "import dataclasses\n@dataclasses.dataclass\nclass D:\n    a: int = 1\nACTIONS ="},
		"ends with exceptions": {"ACTIONS =", "import atexit, sys\natexit.register(lambda: 1 / 0)\nsys.excepthook = None\nACTIONS ="},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := checkPython(t, p, changed(t, base, c.old, c.new), gate.Options{RequireSolve: true})
			if !r.Accepted {
				t.Errorf("refused at %s: %s", r.Stage, r.Reason)
			}
		})
	}
}

// A source that takes its worker over can make it say anything. It gets no further with that than what it says is true.
func TestRefusesAWorkerThatWasTakenOver(t *testing.T) {
	const find = "import sys\nP = sys.modules['spade_worker.episodes'].Player\n"
	p := pythonPool(t, gym.Config{CallTimeout: 2 * time.Second})
	base := read(t, "testdata/counting.py")
	for name, c := range map[string]struct{ take, stage string }{
		"everything is solved": {`
E = sys.modules['spade_worker.episodes']
P.finish = lambda self, game, total, terminated: b"\1" + E.wire.pack_float(1.0) + E.wire.fault(E.Ended(E.SOLVED))`, gate.StageRun},
		"no verdict": {`
E = sys.modules['spade_worker.episodes']
P.finish = lambda self, game, total, terminated: b"\0" + E.wire.fault(E.Ended(E.SOLVED if terminated and total == 1 else E.FAILED))`, gate.StageRun},
		"no end": {`
P.__init__ = (lambda old: lambda self, *a: (old(self, *a), setattr(self, "max_steps", 10**9))[0])(P.__init__)`, gate.StageRun},
		"writes to every descriptor": {`
import os
for fd in range(3, 64):
    try: os.write(fd, b"\x10\0\0\0" + b"x" * 64)
    except OSError: pass`, gate.StageLoad},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := checkPython(t, p, changed(t, base, "ACTIONS =", find+strings.TrimPrefix(c.take, "\n")+"\nACTIONS ="), gate.Options{})
			if r.Accepted || r.Stage != c.stage {
				t.Errorf("accepted %v, stage %q: %s", r.Accepted, r.Stage, r.Reason)
			}
			t.Log(r.Reason)
		})
	}
}

func TestClassForm(t *testing.T) {
	p := pythonPool(t, gym.Config{})
	base := read(t, "testdata/counting_class.py")
	for name, c := range map[string]struct{ old, new, stage, reason string }{
		"an attribute that is no JSON": {"self.n = 0", "self.n = 0; self.x = object()", gate.StageReset, "attribute x"},
		"with a state of its own":      {"self.n = 0", "self.n = 0; self.x = object(); self.state = None", gate.StageReset, "attribute"},
		"with a method state": {
			"    def noise(self):", "    def state(self):\n        return [self.n, self.goal]\n\n    def noise(self):\n        self.x = object()", "", "",
		},
		"an attribute of the class":  {"self.n = 0", "self.n = 0; Env.seen = getattr(Env, 'seen', 0) + 1; self.seen = Env.seen", "", ""},
		"verify changes the state":   {"    def verify(self):\n", "    def verify(self):\n        self.n += 0.5\n", gate.StageVerify, "changed the state"},
		"verify adds an attribute":   {"    def verify(self):\n", "    def verify(self):\n        self.judged = True\n", gate.StageVerify, "changed the state"},
		"hint adds an attribute":     {"    def hint(self):\n", "    def hint(self):\n        self.told = True\n", gate.StageReset, "changed the state"},
		"no verify":                  {"def verify", "def verify_", gate.StageVerify, "no method verify"},
		"no reset":                   {"def reset", "def reset_", gate.StageMeta, "no method reset"},
		"no META":                    {"META =", "META_ =", gate.StageMeta, "META"},
		"no class":                   {"class Env:", "class Environment:", gate.StageMeta, "no class Env"},
		"no hint":                    {"def hint", "def hint_", "", ""},
		"reset without info":         {`return self.show(), {"actions": ACTIONS}` + "\n\n    def noise", "return self.show()\n\n    def noise", gate.StageReset, "want 2 values"},
		"global generator":           {`return ""`, `import random; return str(random.random())`, gate.StageDeterministic, "use rng, or self.rng in a class"},
		"both ends at once":          {"done, False, {", "done, done, {", gate.StageTerminates, "both"},
		"a constructor that fails":   {"    def noise(self):", "    def __init__(self):\n        1 / 0\n\n    def noise(self):", gate.StageReset, "ZeroDivisionError"},
		"a constructor that draws":   {"    def noise(self):", "    def __init__(self):\n        self.a = self.rng.random()\n\n    def noise(self):", "", ""},
		"hint that looks in a cache": {"    def hint(self):\n", "    def hint(self):\n        import json\n        json.told = self.goal\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := checkPython(t, p, changed(t, base, c.old, c.new), gate.Options{RequireSolve: true})
			if r.Accepted != (c.stage == "") || r.Stage != c.stage || !strings.Contains(r.Reason, c.reason) {
				t.Errorf("accepted %v, stage %q, reason %q", r.Accepted, r.Stage, r.Reason)
			}
		})
	}
}
