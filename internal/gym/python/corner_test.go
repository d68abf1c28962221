package python_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/seed256f7767/spade/internal/gym/interp"
	"github.com/seed256f7767/spade/internal/gym/portable"
	"github.com/seed256f7767/spade/internal/gym/python/pythontest"
	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/seed"
)

// expression is a source whose step evaluates an expression and shows the value in every way there is.
func expression(expr string) string {
	return `
META = {"title": "é", "kind": "game", "max_steps": 3}

def reset(seed):
    return {"v": None}, "", {}

def step(state, action):
    v = ` + expr + `
    return {"v": v}, json.encode(v), 0, False, False, {"v": v, "w": [v]}

def hint(state):
    return ""

def verify(state):
    return 0

def solve(state):
    return ["a", "é"]
`
}

// corners are expressions in which the two languages, or the two libraries behind them, could differ.
func corners() []string {
	return []string{
		// Text that is not ASCII, NUL, and what only looks like a letter or a digit.
		`len("é中😀")`, `text.slice("é中😀x", 1, 3)`, `text.slice("é中😀x", -2)`, `text.upper("straße ÿ ǆ é")`, `text.lower("ÀİΣ")`,
		`text.strip("\x1c a \u00a0\u2003")`, `text.words("a\u00a0b\x1cc\vd\fe")`, `text.lines("a\r\nb\u2028c\n\n")`, `text.int("٣")`, `text.int("１")`,
		`text.float("１.5")`, `text.chars("e\u0301")`, `text.reverse("e\u0301😀")`, `text.ord("\U0010ffff")`, `text.chr(0)`, `text.chr(55296)`, `text.chr(1114112)`,
		`text.pad_left("é", 4, "中")`, `text.pad_left("ab", -9223372036854775808)`, `text.pad_left("ab", 9223372036854775807)`, `text.pad_right("", 1048577)`,
		`text.pad_right("", 1048576) == ""`, `text.repeat("é", 524288) == ""`, `text.repeat("é", 524289)`, `"\x00"`, `{"\x00": "\x7f\x80\u2028"}`, `"\ufffe\uffff"`,
		`text.count("aaaa", "aa")`, `text.replace("aaa", "a", "é")`, `text.split(",a,,", ",")`, `text.split("", ",")`, `text.join("é", ["a", "b"])`, `text.join(",", "ab")`,
		`text.find("é中😀", "😀")`, `text.normalize("  ÀB\t\tC ")`, `text.format("{}{{}}{}", 1.0, "é")`, `text.format("{")`, `text.format("{}}", 1)`, `text.format("{0}", 1)`,
		// Floats.
		`1e16`, `1e15`, `123456789012345680.0`, `0.0001`, `0.00001`, `5e-324`, `1.7976931348623157e308`, `-0.0`, `0.1 + 0.2`, `1e22`, `1e23`, `2.5e-5 * 3`,
		`math.float(9007199254740993)`, `math.float(18446744073709551615)`, `math.float(math.pow(10, 400))`, `math.float(math.pow(2, 1023)) * 2`, `1.0 / 3`, `7 / 2`, `6 / 2`, `1 / 0`, `1.0 / 0`,
		`text.fixed(0.5, 0)`, `text.fixed(1.5, 0)`, `text.fixed(2.675, 2)`, `text.fixed(-0.001, 2)`, `text.fixed(1e22, 3)`, `text.fixed(math.pow(10, 30), 17)`, `text.fixed(1, 18)`, `text.fixed(True, 1)`,
		`math.round(0.5)`, `math.round(1.5)`, `math.round(-2.5)`, `math.round(1e300)`, `math.floor(-0.5)`, `math.ceil(-0.5)`, `math.trunc(-1.7)`, `math.floor(1e308 * 10)`,
		`math.sqrt(2)`, `math.sqrt(-0.0)`, `math.sqrt(-1)`, `math.sqrt(math.pow(2, 2000))`, `math.sum([0.1] * 10)`, `math.sum([1e308, 1e308])`, `math.sum([1e16, 1.0, -1e16])`, `math.sum([])`,
		`math.min([1, 1.0])`, `math.max([1.0, 1])`, `math.min([True])`, `math.max([])`, `math.clamp(5, 1.0, 5.0)`, `math.clamp(-0.0, 0, 1)`, `1e308 * 10`, `[1e308 * 10 - 1e308 * 10]`,
		`math.float(1e400)`, `text.float("1e400")`, `text.float("1e-400")`, `text.float("-0")`, `text.float(" 1")`, `text.float("1_0")`, `text.float("NaN")`, `text.float("-Infinity")`, `text.float("0x1")`, `text.float("")`,
		`1 == 1.0`, `0.0 == -0.0`, `1 < 1.5`, `9007199254740993 == 9007199254740992.0`, `9007199254740993 > 9007199254740992.0`,
		// Integers.
		`math.pow(2, 4095)`, `math.pow(2, 4096)`, `math.pow(2, 3400)`, `math.pow(3, 100) % 1000007`, `math.pow(-1, 9223372036854775807)`, `math.pow(0, 0)`, `math.pow(2, -1)`, `math.pow(2, 9223372036854775808)`,
		`-7 // 2`, `-7 % 3`, `7 % -3`, `7 // -2`, `1 // 0`, `1 % 0`, `math.div(-7, 2)`, `math.mod(-7, -2)`, `math.mod(7, 0)`, `math.isqrt(math.pow(10, 300))`, `math.gcd(-12, 18)`, `math.gcd(0, 0)`,
		`9223372036854775807 + 1`, `-9223372036854775808 - 1`, `18446744073709551616 * 18446744073709551616`, `math.pow(10, 999)`, `math.pow(10, 1000)`, `-math.pow(10, 999)`, `-math.pow(10, 1000)`,
		`text.int("-0")`, `text.int("007")`, `text.int("--1")`, `text.int("+1")`, `text.int("1 ")`, `text.int("` + strings.Repeat("9", 1000) + `")`, `text.int("` + strings.Repeat("9", 1001) + `")`,
		`5 & 3`, `-5 & 3`, `-5 | 3`, `5 ^ -3`, `~5`, `-9 >> 1`, `1 >> 70`, `math.pow(2, 70) >> 69`,
		`True and 1`, `0 or "x"`, `not ""`, `[] or {}`, `1 if [] else 2`,
		// Sorting and comparing.
		`sorted(["é", "z", "Z", "中", "😀", "\uffff", ""])`, `sorted([3, 1.5, 2, -0.0, 0])`, `sorted([[2, "a"], [1, "b"], [1, "a"]])`, `sorted([1, "a"])`, `sorted([None, None])`,
		`sorted([(1, 2), (1, 1)], reverse = True)`, `sorted([3, 1, 2], key = lambda x: -x)`, `sorted(["bb", "a", "cc"], key = len)`, `sorted([1, 2, 3, 4], key = lambda x: x % 2, reverse = True)`,
		`max([1, 3.0, 3])`, `min(["b", "a"])`, `max("a", "b")`, `min(3, 1, 2)`, `max([])`, `[1, 2] < [1, 3]`, `[1] == (1,)`, `{"a": 1} == {"a": 1.0}`, `"a" < "b"`, `"a" < 1`, `[] < {}`, `None == False`,
		`[1, [2, 3]] == [1, [2, 3]]`, `"a" in {"a": 1}`, `2 not in (1, 2)`, `"b" in "abc"`,
		// Lists and dictionaries.
		`[1, 2, 3][-1]`, `[1, 2, 3][3]`, `[1, 2, 3][::-1]`, `[1, 2, 3][5:]`, `[1, 2, 3, 4][1:-1]`, `[0] * 3`, `[0] * -1`, `2 * [1]`, `[1] + (2,)`, `(1,) + (2,)`, `[1] + [2]`, `(1, (2, [3]))`, `()`,
		`{"b": 1, "a": {"d": 1, "c": 2}}`, `list({"b": 1, "a": 2})`, `list({"b": 1, "a": 2}.items())`, `{1: 2}`, `{None: 1}`, `{True: 1}`, `{(1, 2): 3}`, `{"a": 1}["b"]`, `{"a": 1}.get("b", 2)`,
		`dict([("a", 1), ("b", 2)])`, `dict(a = 1, b = 2)`, `dict([("a", 1)], b = 2)`, `list(range(5, 0, -2))`, `range(3)`, `list(enumerate(["a"], 1))`, `list(zip([1, 2], ["a", "b", "c"]))`,
		`[x * y for x in range(3) for y in range(3) if x != y]`, `{text.str(x): x for x in [2, 1]}`, `any([])`, `all([])`, `any([0, ""])`, `bool("0")`, `list((1, 2))`, `tuple([1, 2])`, `abs(-3)`, `abs(-0.0)`,
		`[1, 2, 3].index(2)`, `[1].index(2)`, `[1, 2].pop()`, `[].pop()`, `{"a": 1}.pop("b")`, `{"a": 1}.pop("b", None)`, `{"a": 1}.setdefault("b", 2)`, `[3, 1].extend([2])`, `[1].append(2)`, `len({"a": 1})`, `len(5)`,
		`"ab" * 3`, `"a" + "b"`, `"a" + 1`, `-"a"`, `[1][1.0]`, `[1][True]`, `(1, 2)[0]`, `None + 1`, `lambda: 1`, `len`, `json`, `[len]`, `{"a": lambda: 1}`,
		// JSON round trips.
		`json.decode("[1, 2.0, 1e2, -0, -0.0, 1E+2]")`, `json.decode('{"b": 1, "a": 2, "b": 3}')`, `json.encode(json.decode('{"é": "\\ud83d\\ude00", "\\u00e9x": 1}'))`, `json.decode('"\\ud800"')`, `json.decode('"\\ud800"', "no")`,
		`json.decode("NaN", 1)`, `json.decode("[1,]", 1)`, `json.decode("{'a': 1}", 1)`, `json.decode("01", 1)`, `json.decode("1.", 1)`, `json.decode(".5", 1)`, `json.decode("1e", 1)`, `json.decode("", 1)`, `json.decode("\ufeff1", 1)`,
		`json.decode("\u00a01", 1)`, `json.decode("1\x0b", 1)`, `json.decode(" \t\n\r1 ")`, `json.decode('"\t"', 1)`, `json.decode('"\x7f"')`, `json.decode("1e999", 1)`, `json.decode("` + strings.Repeat("9", 1001) + `", 1)`, `json.decode("` + strings.Repeat("9", 1000) + `")`,
		`json.decode("` + strings.Repeat("[", 65) + strings.Repeat("]", 65) + `", 1)`, `json.decode("` + strings.Repeat("[", 64) + "1" + strings.Repeat("]", 64) + `", 1)`, `json.decode("` + strings.Repeat("[", 65) + "1" + strings.Repeat("]", 65) + `", 1)`,
		`json.decode("` + strings.Repeat("[", 60000) + `", 1)`, `json.decode("` + strings.Repeat("[", 62) + "1" + strings.Repeat("]", 62) + `")`, `json.decode("` + strings.Repeat("[", 63) + "1" + strings.Repeat("]", 63) + `")`,
		`json.encode("\x00\x1f\"\\/\u2028é😀")`, `json.encode(1.0)`, `json.encode((1, "a"))`, `json.encode({1: 2})`, `json.kind((1,))`, `json.kind(True)`, `json.kind(len)`, `json.kind(1.0)`, `json.decode(1)`, `json.decode("1", 2, 3)`, `json.encode()`,
		// Random numbers.
		`rng.random()`, `rng.randint(-9223372036854775808, 9223372036854775807)`, `rng.randint(3, 3)`, `rng.randint(2, 1)`, `rng.randint(0, 9223372036854775808)`, `rng.shuffled(["é", 1, None])`, `rng.shuffled([])`,
		`rng.sample((1, 2, 3), 2)`, `rng.sample([1], 2)`, `rng.sample([1, 2], True)`, `rng.choice([7])`, `rng.choice([])`, `rng.choice("ab")`, `[rng.randint(0, 5) for _ in range(20)]`, `rng.randint(0, 1.0)`, `rng.randint(True, 2)`, `rng.choice({"a": 1})`,
		// Depth.
		nested(62), nested(63), nested(64), nested(65),
	}
}

// nested is a value of so many lists in one another.
func nested(depth int) string { return strings.Repeat("[", depth) + "1" + strings.Repeat("]", depth) }

// What the static checker lets pass means the same in both, errors included.
func TestCornersAreTheSame(t *testing.T) {
	driver := pythontest.Start(t, "{}")
	var played pythontest.Played
	refused := 0
	for _, expr := range corners() {
		code := expression(expr)
		p, err := pythontest.Same(driver, code, wire.DefaultLimits(), 3)
		played.Add(p)
		if len(portable.Check(code)) > 0 {
			refused++
			continue
		}
		if err != nil {
			t.Errorf("%.80s: %v", expr, err)
		}
	}
	t.Logf("%d expressions, %d not portable, %+v", len(corners()), refused, played)
	if refused > len(corners())/4 {
		t.Errorf("%d of %d are not portable", refused, len(corners()))
	}
}

// made draws an expression from the functions and operators that the checker knows.
func made(r *seed.Rand, depth int) string {
	if depth == 0 || r.IntN(6) == 0 {
		leaves := []string{
			"0", "1", "-1", "7", "2.5", "-0.0", "1e16", "1e-7", "9223372036854775807", "18446744073709551616", `""`, `"a"`, `"é中"`, `"😀 b"`, `"a,b"`, `"12"`, `"-3.5"`,
			"True", "False", "None", "[]", "{}", "[1, 2, 3]", `["b", "a", "é"]`, "[0.1, 0.2, 0.3]", `{"a": 1, "b": 2}`, "(1, 2)", `"{} and {}"`, `"[1, {\"a\": 2.0}]"`, `" x  y "`,
		}
		return leaves[r.IntN(len(leaves))]
	}
	sub := func() string { return made(r, depth-1) }
	calls := []struct {
		name string
		n    int
	}{
		{"text.len", 1},
		{"text.chars", 1},
		{"text.slice", 2},
		{"text.slice", 3},
		{"text.find", 2},
		{"text.contains", 2},
		{"text.starts_with", 2},
		{"text.ends_with", 2},
		{"text.count", 2},
		{"text.replace", 3},
		{"text.split", 2},
		{"text.words", 1},
		{"text.lines", 1},
		{"text.join", 2},
		{"text.strip", 1},
		{"text.lower", 1},
		{"text.upper", 1},
		{"text.reverse", 1},
		{"text.repeat", 2},
		{"text.normalize", 1},
		{"text.pad_left", 2},
		{"text.pad_right", 3},
		{"text.str", 1},
		{"text.str", 1},
		{"text.format", 2},
		{"text.format", 3},
		{"text.fixed", 2},
		{"text.int", 1},
		{"text.float", 1},
		{"text.ord", 1},
		{"text.chr", 1},
		{"json.encode", 1},
		{"json.decode", 1},
		{"json.decode", 2},
		{"json.kind", 1},
		{"math.abs", 1},
		{"math.min", 1},
		{"math.max", 1},
		{"math.sum", 1},
		{"math.floor", 1},
		{"math.ceil", 1},
		{"math.trunc", 1},
		{"math.round", 1},
		{"math.sqrt", 1},
		{"math.isqrt", 1},
		{"math.gcd", 2},
		{"math.pow", 2},
		{"math.div", 2},
		{"math.mod", 2},
		{"math.clamp", 3},
		{"math.float", 1},
		{"rng.randint", 2},
		{"rng.choice", 1},
		{"rng.shuffled", 1},
		{"rng.sample", 2},
		{"rng.random", 0},
		{"len", 1},
		{"sorted", 1},
		{"list", 1},
		{"tuple", 1},
		{"abs", 1},
		{"any", 1},
		{"all", 1},
		{"bool", 1},
		{"min", 1},
		{"max", 2},
		{"dict", 1},
	}
	operators := []string{"+", "-", "*", "/", "//", "%", "&", "|", "^", "==", "!=", "<", "<=", "and", "or", "in", "not in", ">>"}
	switch r.IntN(8) {
	case 0, 1, 2, 3:
		c := calls[r.IntN(len(calls))]
		args := make([]string, c.n)
		for i := range args {
			args[i] = sub()
		}
		return c.name + "(" + strings.Join(args, ", ") + ")"
	case 4:
		return "(" + sub() + " " + operators[r.IntN(len(operators))] + " " + sub() + ")"
	case 5:
		return "[" + sub() + ", " + sub() + "]"
	case 6:
		return `{"k": ` + sub() + `, "é": ` + sub() + "}"
	}
	forms := []string{"(%s)[%s]", "[x for x in (%s) if x != (%s)]", "((%s) if (%s) else 0)", "(%s)[%s:]", "(%s, %s)", "(%s).get(%s)", "list(zip(%s, %s))"}
	return fmt.Sprintf(forms[r.IntN(len(forms))], sub(), sub())
}

// known are the differences that no look at a source can find, all of them mistakes that end the episode in one of the
// languages: a bool where a number belongs, a list or dictionary looked for among keys, an index beyond 64 bits.
func known(err error) bool {
	for _, sign := range []string{"bool", "unhashable", "index-sized", "out of range"} {
		if strings.Contains(err.Error(), sign) {
			return true
		}
	}
	return false
}

// Expressions that nobody thought of.
func TestMadeExpressionsAreTheSame(t *testing.T) {
	const expressions = 4000
	driver := pythontest.Start(t, "{}")
	r := seed.FromEnvSeed(77)
	var played pythontest.Played
	portables, values, excused := 0, 0, 0
	for range expressions {
		expr := made(r, 1+r.IntN(3))
		code := expression(expr)
		if len(portable.Check(code)) > 0 {
			continue
		}
		portables++
		p, err := pythontest.Same(driver, code, wire.DefaultLimits(), 3)
		if err != nil && known(err) {
			excused++
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", expr, err)
		}
		played.Add(p)
		if p.Faults == 0 {
			values++
		}
	}
	t.Logf("%d of %d expressions are portable, %d have values, %d differ by types: %+v", portables, expressions, values, excused, played)
	if excused > expressions/200 {
		t.Errorf("%d differ in the known ways", excused)
	}
	if portables < expressions/2 || values < portables/8 {
		t.Error("too few say anything")
	}
}

// Whatever JSON an agent sends is read, or refused, and written alike.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		`{"b":[1,2.5,"é"],"a":null}`, "[[[]]]", "-0.0", `"\ud83d\ude00"`, `"\ud83d"`, "1e400", "[1,]", " 1 ", "NaN", "-", "-Infinity", `{"a":1,"a":2}`, "\ufeff1", `"\u00e9\x00"`, "1.5E-7", `{"é":{}}`, "tru", `"a`,
	} {
		f.Add(text)
	}
	driver := pythontest.Start(f, "{}")
	const code = `
META = {"title": "Reads", "kind": "tools", "max_steps": 2}

def reset(seed):
    return None, "", {}

def step(state, action):
    value = json.decode(action, "none")
    return value, json.encode(value), 0.0, False, False, {"float": text.float(action), "int": text.int(action), "words": text.words(action)}

def hint(state):
    return ""

def verify(state):
    return 0
`
	env, loaded := interp.Load(code, wire.DefaultLimits())
	if env == nil {
		f.Fatal(loaded)
	}
	if loaded := driver.Load(code, wire.DefaultLimits()); loaded.Stage != "" {
		f.Fatal(loaded)
	}
	f.Fuzz(func(t *testing.T, action string) {
		if !utf8.ValidString(action) || len(action) > 10_000 {
			return
		}
		driver := driver.With(t)
		env.Reset(wire.Reset{})
		driver.Reset(wire.Reset{})
		star, py := env.Step(wire.Action{Text: action}), driver.Step(wire.Action{Text: action})
		star.Error, py.Error = "", ""
		if !reflect.DeepEqual(star, py) {
			t.Errorf("%q: %+v, then %+v", action, star, py)
		}
	})
}
