package portable

import (
	"strings"
	"testing"

	"go.starlark.net/starlark"

	"github.com/seed256f7767/spade/internal/gym/gymtest"
)

func TestPortable(t *testing.T) {
	for name, code := range map[string]string{
		"counting":  gymtest.Counting,
		"iteration": "x = [a + b for a, b in zip([1], [2])]\nfor i, k in enumerate(sorted({}.keys())):\n    x.append(i)\ny = list(range(3))[::-1]\n",
		"keywords":  "x = sorted([3, 1], key = lambda v: -v, reverse = True)\nm = max(x, key = lambda v: v)\nd = dict(a = 1)\n",
		"text":      "s = text.format('{} is {}', 'a', 1)\nn = len(s)\nt = s + '!' * 3\nok = 'a' in s and 'é' < 'z'\n",
		"bools":     "x = (1 < 2) == True\ny = not x and 'a' in 'ab' or x != False\nz = max('a', 'b', key = lambda s: 1)\n",
		"default":   "def f(a, b = 3, c = None, *args):\n    return a\n",
		"own names": "def fold(items, total = 0):\n    for i in items:\n        total += i\n    return total\nx = fold([1, 2])\n",
	} {
		if got := Check(code); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

func TestFindings(t *testing.T) {
	tests := []struct{ name, code, want string }{
		{"f-string", `x = f"a"`, "1:9: Starlark does not read"},
		{"power", "x = 2 ** 3", "1:9: Starlark does not read"},
		{"class", "class A:\n    pass", "1:1: Starlark does not read"},
		{"try", "try:\n    x = 1\nexcept:\n    pass", "1:1: Starlark does not read"},
		{"chained comparison", "x = 1 < 2 < 3", "1:12: Starlark does not read"},
		{"return at the top", "return 1", "1:1: Starlark does not take"},
		{"undefined", "def f():\n    return nothing", "2:12: nothing is not the same"},
		{"load", "load('a', 'b')", "1:1: Python has no load"},
		{"str", "x = 1\ny = str(x)", "2:5: str is not the same in both languages; use text.str"},
		{"repr", "y = repr([1])", "1:5: repr"},
		{"int", "y = int('1')", "1:5: int"},
		{"sum", "y = sum([1])", "1:5: sum is not the same in both languages; use math.sum"},
		{"round", "y = round(1.5)", "1:5: round"},
		{"set", "y = set([1])", "1:5: set"},
		{"isinstance", "y = isinstance(1, int)", "1:5: isinstance"},
		{"reversed", "y = reversed([1])", "1:5: reversed"},
		{"fail", "fail('x')", "1:1: fail"},
		{"assert", "assert(1)", "1:1: assert"},
		{"dunder", "y = __name__", "1:5: __name__"},
		{"hash", "y = hash('a')", "1:5: hash"},
		{"percent", "y = '%.2f' % 1.0", "1:5: formatting by %"},
		{"percent of a variable", "def f(x):\n    form = '%s'\n    return form % x", "3:12: formatting by %"},
		{"method of a text", "y = ' a '.strip()", "1:11: methods of texts"},
		{"method of an unknown", "def f(x):\n    return x.split(',')", "2:14: the method split is not the same in both languages; use text.split"},
		{"sort in place", "x = [1]\nx.sort()", "2:3: the method sort is not the same in both languages; use sorted"},
		{"popitem", "x = {}\nx.popitem()", "2:3: the method popitem"},
		{"index of a text", "def step(state, action):\n    return action[0]", "2:12: indexing a text"},
		{"slice of a text", "x = 'abc'\ny = x[1:]", "2:5: slicing a text"},
		{"index of a result", "def show(s):\n    return text.str(s)\ny = show(1)[0]", "3:5: indexing a text"},
		{"index of an element", "for w in text.words('a b'):\n    y = w[0]", "2:9: indexing a text"},
		{"through a text", "for c in 'abc':\n    pass", "1:10: Starlark does not go through a text"},
		{"list of a text", "x = list('abc')", "1:10: Starlark does not go through a text"},
		{"keys by index", "d = {}\nx = d.keys()[0]", "2:5: the result of keys"},
		{"range kept", "x = range(3)", "1:5: the result of range"},
		{"zip kept", "x = zip([1], [2])", "1:5: the result of zip"},
		{"bytes", "x = b'a'", "1:5: bytes"},
		{"shift", "x = 1 << 3", "1:5: shifts"},
		{"shift in place", "x = 1\nx <<= 3", "2:1: shifts"},
		{"float quotient", "x = 7.5 // 2", "1:5: // of floats"},
		{"changeable default", "def f(a = []):\n    return a", "1:11: a default value that can be changed"},
		{"key twice", "x = {'a': 1, 'a': 2}", "1:14: the key 'a' twice"},
		{"hidden module", "text = 1", "1:1: text hides"},
		{"hidden built-in", "def len(x):\n    return 1", "1:5: len hides"},
		{"no such member", "x = text.title('a')", "1:10: there is no text.title"},
		{"module keyword", "x = text.format(template = 'a')", "1:17: functions of the modules take no keywords"},
		{"sorted by position", "x = sorted([1], None)", "1:17: sorted takes its options by keyword"},
		{"unknown keyword", "x = min([1], default = 0)", "1:14: min takes no keyword default"},
		{"sum of bools", "x = (1 < 2) + True", "1:5: a bool is a number"},
		{"bool and number", "def f(a):\n    return (a == 2) == 1", "2:12: a bool is a number"},
		{"index by bool", "x = [1, 2][3 in [3]]", "1:5: a bool is a number"},
		{"minus a bool", "x = -True", "1:5: a bool is a number"},
		{"abs of a bool", "x = abs(not 1)", "1:9: a bool is a number"},
		{"min of a text", "x = min('abc')", "1:9: Starlark does not go through a text"},
		{"tabs", "def f():\n\treturn 1", "2:2: indentation by tabs"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := Check(tt.code)
			if len(got) == 0 || !strings.HasPrefix(got[0].String(), tt.want) {
				t.Errorf("findings %v, want %q", got, tt.want)
			}
		})
	}
}

// Every function that the tables name exists, so that no table outlives a change of the modules.
func TestTablesNameWhatExists(t *testing.T) {
	for _, name := range append(returnsText(), returnsTexts()...) {
		if got := Check("x = " + name); len(got) > 0 {
			t.Errorf("%s: %v", name, got)
		}
	}
	for name := range builtins() {
		if name != "None" && name != "True" && name != "False" && !starlark.Universe.Has(name) {
			t.Errorf("Starlark has no %s", name)
		}
	}
}

func TestFindingsAreBounded(t *testing.T) {
	if got := Check(strings.Repeat("x = str(1)\n", 5000)); len(got) != maxFindings {
		t.Errorf("%d findings", len(got))
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(gymtest.Counting)
	f.Add("def f(:")
	f.Fuzz(func(t *testing.T, code string) {
		if len(code) > 4096 {
			return
		}
		for _, finding := range Check(code) {
			if finding.Line < 1 || finding.Message == "" {
				t.Errorf("%+v", finding)
			}
		}
	})
}
