package python_test

import (
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym/gymtest"
	"github.com/seed256f7767/spade/internal/gym/portable"
	"github.com/seed256f7767/spade/internal/gym/python/pythontest"
	"github.com/seed256f7767/spade/internal/gym/wire"
)

// Every fault that a source can have in either language has the same outcome and cause in both, and what was answered
// before it is the same too.
func TestFaultsAreTheSame(t *testing.T) {
	driver := pythontest.Start(t, "{}")
	const good = `
META = {"title": "Faulty", "kind": "tools", "max_steps": 3, "tools": [{"name": "é", "b": 1.0}]}

def reset(seed):
    return {"n": [1, seed]}, "go", {"actions": ["a", "é"], "x": 1}

def step(state, action):
    return state, "there", 0.5, action == "a", False, {"actions": ["a"]}

def hint(state):
    return "é"

def verify(state):
    return 0.5

def solve(state):
    return ["é", "a"]
`
	const (
		start = `return {"n": [1, seed]}, "go", {"actions": ["a", "é"], "x": 1}`
		next  = `return state, "there", 0.5, action == "a", False, {"actions": ["a"]}`
		all   = `return state, "there", %, action == "a", False, {"actions": ["a"]}`
	)
	faults := 0
	for _, change := range [][2]string{
		{"", ""},
		{start, `return {}, "go"`},
		{start, "return None"},
		{start, `return "abc"`},
		{start, `return [1, "go", {}]`},
		{start, `return {"a": 1, "b": 2, "c": 3}`},
		{start, `return {}, 1, {}`},
		{start, `return {}, "go", []`},
		{start, `return {}, "go", {"actions": 1}`},
		{start, `return {}, "go", {"actions": [1]}`},
		{start, `return {}, "go", {"actions": ("a", "b")}`},
		{start, `return {}, "go", {"actions": "ab"}`},
		{start, `return {}, "go", {"actions": None}`},
		{start, `return {}, "go", {"actions": []}`},
		{start, `return {}, "go", {1: 2}`},
		{start, `return {}, "go", {"x": reset}`},
		{start, `return {1: 2}, "go", {}`},
		{start, `return reset, "go", {}`},
		{start, `return [].pop(), "go", {}`},
		{start, `return 0, text.repeat("x", 300000), {}`},
		{start, `return 0, "", {"x": text.repeat("x", 70000)}`},
		{start, `return text.repeat("x", 1048574), "", {}`},
		{start, `return text.repeat("x", 1048573), "", {}`},
		{start, `return [text.repeat("x", 1048573)], "", {}`},
		{start, `return text.repeat("é", 524286), "", {}`},
		{start, `return 0, text.repeat("é", 131072), {}`},
		{start, `return 0, text.repeat("é", 131072) + "x", {}`},
		{start, `return 0, "", {"x": text.repeat("x", 65527)}`},
		{start, `return 0, "", {"x": text.repeat("x", 65528)}`},
		{start, `return 0, "", {"x": text.repeat("x", 65529)}`},
		{start, `return 0, "", {"actions": [text.repeat("x", 40000), text.repeat("x", 40000)]}`},
		{next, `return state, "there"`},
		{next, `return [state, "there", 0.5, True, False, {}]`},
		{next, `return {}`},
		{next, `return state, None, 0.5, True, False, {}`},
		{next, `return state, "", 0.5, 1, 0, {}`},
		{next, `return state, "", 0.5, None, False, {}`},
		{next, `return reset, None, None, None, None, None`},
		{next, `return state, None, None, None, None, None`},
		{next, `return state, "", None, None, None, None`},
		{next, `return state, "", None, None, None, {}`},
		{next, `return state, "", 1, None, None, {}`},
		{next, strings.Replace(all, "%", "True", 1)},
		{next, strings.Replace(all, "%", `"1"`, 1)},
		{next, strings.Replace(all, "%", "1e308 * 10", 1)},
		{next, strings.Replace(all, "%", "1e308 * 10 - 1e308 * 10", 1)},
		{next, strings.Replace(all, "%", "math.pow(10, 400)", 1)},
		{next, strings.Replace(all, "%", "2", 1)},
		{next, strings.Replace(all, "%", "-1", 1)},
		{next, strings.Replace(all, "%", "0", 1)},
		{next, strings.Replace(all, "%", "0.5000001", 1)},
		{next, strings.Replace(all, "%", "1", 1)},
		{next, strings.Replace(all, "%", "1.0 / 3", 1)},
		{next, `return state, "", 0.5, True, True, {}`},
		{next, `return state, "", 0.5, False, True, {}`},
		{next, `return state, "", 1 // 0, False, True, {}`},
		{`return "é"`, "return None"},
		{`return "é"`, "return rng.choice(['a'])"},
		{`return "é"`, "state['x'] = 1\n    return ''"},
		{`return "é"`, "state['n'].append(1)\n    return ''"},
		{`return "é"`, "return text.repeat('é', 32769)"},
		{`return "é"`, "return text.repeat('é', 32768)"},
		{`return "é"`, "state['n'] = (1, state['n'][1])\n    return ''"},
		{`return "é"`, "state['n'] = [1.0, state['n'][1]]\n    return ''"},
		{`return "é"`, "state[1] = 2\n    return ''"},
		{`return "é"`, "return [].pop()"},
		{`return ["é", "a"]`, "return None"},
		{`return ["é", "a"]`, "return ('é', 'a')"},
		{`return ["é", "a"]`, "return [1]"},
		{`return ["é", "a"]`, "return 'a'"},
		{`return ["é", "a"]`, "state.clear()\n    return []"},
		{`return ["é", "a"]`, "return []"},
		{`return ["é", "a"]`, "return [text.repeat('x', 1048575)]"},
		{`return ["é", "a"]`, "return [text.repeat('x', 1048576)]"},
		{"return 0.5\n", "return None\n"},
		{"return 0.5\n", "return True\n"},
		{"return 0.5\n", "return 2\n"},
		{"return 0.5\n", "return -0.0000001\n"},
		{"return 0.5\n", "return 1e308 * 10\n"},
		{"return 0.5\n", "state['n'].pop()\n    return 0.5\n"},
		{"return 0.5\n", "return state['y']\n"},
		{"return 0.5\n", "return rng.random()\n"},
		{"return 0.5\n", "return math.pow(10, 400)\n"},
		{"return 0.5\n", "return 0.5000005\n"},
		{"return 0.5\n", "return 1 // 2\n"},
		{"META", "MEAT"},
		{`"Faulty"`, `""`},
		{`"Faulty"`, "1"},
		{`"Faulty"`, `"` + strings.Repeat("é", 100) + `"`},
		{`"Faulty"`, `"` + strings.Repeat("é", 100) + `x"`},
		{`"tools",`, `"toys",`},
		{`"tools",`, "None,"},
		{"3,", "0,"},
		{"3,", "1000,"},
		{"3,", "1001,"},
		{"3,", "True,"},
		{"3,", "2.0,"},
		{`"max_steps": 3, `, ""},
		{`[{"name"`, `[1, {"name"`},
		{`[{"name": "é", "b": 1.0}]`, "({},)"},
		{`[{"name": "é", "b": 1.0}]`, "None"},
		{`[{"name": "é", "b": 1.0}]`, "[{'x': len}]"},
		{`[{"name": "é", "b": 1.0}]`, "[{1: 2}]"},
		{`[{"name": "é", "b": 1.0}]`, "[]"},
		{"def solve", "def other"},
		{"def hint", "def other"},
		{"def verify", "def other"},
		{"def step", "def other"},
		{"def reset", "def other"},
		{"def solve(state):\n    return [\"é\", \"a\"]", "solve = 1"},
		{"def hint(state)", "def hint()"},
		{"META = ", "X = [].pop()\nMETA = "},
		{"META = ", "X = rng.random()\nMETA = "},
		{"def reset", "def def"},
	} {
		code := strings.Replace(good, change[0], change[1], 1)
		if change[0] != "" && code == good {
			t.Fatalf("%q is not in the source", change[0])
		}
		if found := portable.Check(code); len(found) > 0 && !strings.Contains(change[1], "def def") {
			t.Errorf("%q is not portable: %v", change[1], found)
		}
		played, err := pythontest.Same(driver, code, wire.DefaultLimits(), 0, 1<<63)
		if err != nil {
			t.Errorf("%.80q: %.1500v", change[1], err)
		}
		if played.Faults > 0 {
			faults++
		}
	}
	if faults < 70 {
		t.Errorf("only %d sources have faults", faults)
	}
}

// Every limit is the same number of bytes in both.
func TestLimitsAreTheSame(t *testing.T) {
	driver := pythontest.Start(t, "{}")
	var played pythontest.Played
	code := strings.Replace(gymtest.Counting, `{"n": 0,`, `{"é": "中", "n": 0,`, 1)
	for limit := range 60 {
		for _, set := range []func(*wire.Limits){
			func(l *wire.Limits) { l.State = limit },
			func(l *wire.Limits) { l.Observation = limit },
			func(l *wire.Limits) { l.Info = limit },
			func(l *wire.Limits) { l.Hint = limit },
			func(l *wire.Limits) { l.Action = limit },
		} {
			limits := wire.DefaultLimits()
			set(&limits)
			p, err := pythontest.Same(driver, code, limits, uint64(limit))
			if err != nil {
				t.Fatalf("%+v: %v", limits, err)
			}
			played.Add(p)
		}
	}
	if played.Faults < 100 || played.Solved < 100 {
		t.Errorf("%+v", played)
	}
}
