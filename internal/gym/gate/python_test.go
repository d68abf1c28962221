package gate_test

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gate"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
)

func read(t testing.TB, file string) string {
	t.Helper()
	code, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(code)
}

// changed replaces all of old in code, which must be there.
func changed(t testing.TB, code, old, with string) string {
	t.Helper()
	if !strings.Contains(code, old) {
		t.Fatalf("%q is not in the source", old)
	}
	return strings.ReplaceAll(code, old, with)
}

func pythonPool(t testing.TB, cfg gym.Config) *gym.Pool {
	t.Helper()
	if cfg.MemoryBytes == 0 {
		cfg.MemoryBytes = 256 << 20
	}
	return gymtest.NewPool(t, cfg)
}

func checkPython(t testing.TB, p *gym.Pool, code string, opts gate.Options) gate.Report {
	t.Helper()
	r, err := gate.Check(t.Context(), p, gym.Source{Runtime: gym.RuntimePython, Code: code}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestAcceptsPython(t *testing.T) {
	p := pythonPool(t, gym.Config{})
	for _, file := range []string{"testdata/counting.py", "testdata/counting_class.py"} {
		r := checkPython(t, p, read(t, file), gate.Options{RequireSolve: true})
		if !r.Accepted || r.Nondeterministic {
			t.Errorf("%s: refused at %s: %s", file, r.Stage, r.Reason)
		}
		if r.Stats.Seeds != 4 || r.Stats.Episodes != 4+3+16 || r.Stats.DistinctStarts < 2 {
			t.Errorf("%s: %+v", file, r.Stats)
		}
	}
}

// The same text measures the same in both runtimes.
func TestSameReportInBothRuntimes(t *testing.T) {
	p := pythonPool(t, gym.Config{})
	opts := gate.Options{Seed: 9, Portable: true, BothRuntimes: true, RequireSolve: true}
	a, b := check(t, p, gymtest.Counting, opts), checkPython(t, p, gymtest.Counting, opts)
	if !a.Accepted || !reflect.DeepEqual(a.Stats, b.Stats) || !reflect.DeepEqual(a.Checks, b.Checks) || !reflect.DeepEqual(a.Meta, b.Meta) {
		t.Errorf("%+v\n%+v", a, b)
	}
	if a.Tier == b.Tier {
		t.Errorf("both run in tier %s", a.Tier)
	}
}

// race returns the order in which threads come to their turns.
const race = `
    import sys, threading
    sys.setswitchinterval(1e-6)
    order = []
    def work(n):
        for i in range(500):
            order.append(n)
            sum(range(40))
    threads = [threading.Thread(target=work, args=(n,)) for n in range(4)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    import hashlib
    return hashlib.sha256(bytes(order)).hexdigest()`

// leftToCollect counts objects that only the collector of cycles frees, whenever it comes.
const leftToCollect = `
    import gc
    class Node:
        def __init__(self):
            self.me = self
    for _ in range(3000):
        Node()
    return str(sum(type(o).__name__ == "Node" for o in gc.get_objects()))`

// Each source depends on something that no environment may depend on. The first line of its noise, if it has several, are
// its imports and globals.
func TestNamesTheCause(t *testing.T) {
	const (
		global  = "depends on the process-global random generator"
		clock   = "depends on the wall clock"
		hash    = "depends on the order of a set or the hash of a text"
		zone    = "depends on the time zone"
		locale  = "depends on the locale"
		others  = "depends on other episodes of the same process"
		process = "depends on something that differs from process to process"
		asked   = "depends on whether its hint or its solution was asked for"
	)
	tests := []struct{ name, before, noise, reason string }{
		{"random", "import random", "return str(random.random())", global},
		{"random that is seeded by the time", "import random, time", "random.seed(time.time()); return str(random.random())", clock},
		{"a generator of its own", "import random\nR = random.Random()", "return str(R.random())", "the source uses random.Random() without a seed"},
		{"shuffle", "import random", "l = list(range(20)); random.shuffle(l); return str(l)", global},
		{"urandom", "import os", "return os.urandom(4).hex()", global},
		{"uuid4", "import uuid", "return str(uuid.uuid4())", global},
		{"secrets", "import secrets", "return secrets.token_hex(4)", global},
		{"SystemRandom", "import random", "return str(random.SystemRandom().random())", global},
		{"a temporary name", "import tempfile", "return tempfile.mktemp()", "the source uses names of temporary files"},
		{"time", "import time", "return str(time.time())", clock},
		{"day of the week", "import datetime", "return datetime.date.today().strftime('%A')", clock},
		{"now", "import datetime", "return datetime.datetime.now(datetime.timezone.utc).isoformat()", clock},
		{"from now", "from datetime import datetime", "return str(datetime.now().year)", clock},
		{"year", "import time", "return str(time.gmtime().tm_year)", clock},
		{"waits for the clock", "import time", "t = time.time()\n    while time.time() == t: pass\n    return str(t)", clock},
		{"local time of a fixed instant", "import time", "return time.strftime('%H:%M', time.localtime(86400 * 365))", zone},
		{"name of the zone", "import time", "return str(time.tzname)", zone},
		{"offset of the zone", "from datetime import datetime", "return str(datetime(2020, 1, 1).astimezone().utcoffset())", zone},
		{"locale", "import locale", "return locale.setlocale(locale.LC_ALL, '')", locale},
		{"set order", "", "return ' '.join({'anchor', 'basalt', 'copper', 'drawer', 'engine', 'fabric'})", hash},
		{"small sets", "", "return ' '.join(w for a in 'abcd' for w in {a + 'b', a + 'c'})", hash},
		{"hash of a text", "", "return str(hash('anchor') % 1000)", hash},
		{"frozenset in the state", "", "state['s'] = list(frozenset('abcdef')); return ''", hash},
		{"global of a module", "import json as j", "j.count = getattr(j, 'count', 0) + 1; return str(j.count)", others},
		{"attribute of a builtin module", "import builtins", "builtins.seen = getattr(builtins, 'seen', ()) + (1,); return str(len(builtins.seen))", others},
		{"cache of a library", "import re", "hit = len(re._cache) if hasattr(re, '_cache') else 0; re.compile('x%d' % state['goal']); return str(hit)", others},
		{"well behaved at first", "import math as m\nm.n = getattr(m, 'n', 0) + 1", "return ' Say up.' if m.n > 32 else ''", others},
		{"a file that stays", "import os", "open('/tmp/n', 'a').write('x'); return str(os.path.getsize('/tmp/n'))", others},
		{"id", "", "return str(id(object()))", process},
		{"text of an object", "", "return repr(object())", process},
		{"set of objects", "class A:\n    def __init__(s, n): s.n = n", "return ' '.join(str(a.n) for a in {A(i) for i in range(40)})", process},
		{"time that passed", "import time", "return str(time.perf_counter())", process},
		{"monotonic", "import time", "return str(time.monotonic_ns())", process},
		{"processor time", "import time", "return str(time.process_time_ns())", process},
	}
	p := pythonPool(t, gym.Config{CallTimeout: time.Second})
	few := gate.Options{Seeds: []uint64{1, 2}, RandomEpisodes: 1}
	base := read(t, "testdata/counting.py")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			code := changed(t, base, "def noise(state):\n    return \"\"", tt.before+"\n\ndef noise(state):\n    "+tt.noise)
			r := checkPython(t, p, code, few)
			if r.Accepted || r.Stage != gate.StageDeterministic || !strings.Contains(r.Reason, tt.reason) {
				t.Errorf("accepted %v, stage %q, reason %q", r.Accepted, r.Stage, r.Reason)
			}
		})
	}
	for name, c := range map[string]struct{ old, with, reason string }{
		"title": {`"title": "Counting"`, `"title": str(__import__("random").random())`, "META " + global},
		"whether it loads": {
			"ACTIONS =", "import time\nif time.timezone: raise ValueError\nACTIONS =", "whether it loads " + zone,
		},
		"state only":        {`"n": 0,`, `"n": 0, "id": __import__("uuid").uuid4().hex,`, "the state after reset " + global},
		"reward only":       {"1.0 if done", "(0.5 + __import__('random').random() / 1e7) / 0.5 if done", "the reward after step"},
		"hint only":         {`return f"Say`, `return str(__import__("random").random()) + f"Say`, "the hint after reset " + global},
		"solution only":     {`return ["up"] *`, `return [str(__import__("random").random())] + ["up"] *`, "the solution after reset " + global},
		"the first of two":  {`return ""`, `import time, random; return str(random.random() + time.time())`, global},
		"the second of two": {`return ""`, `import time, random; return str(random.random() + time.time())`, "and on " + clock[len("depends on "):]},
		"race of threads":   {`return ""`, race, ""},
		"the collector":     {`return ""`, `import gc; return str(gc.get_count())`, ""},
		"left to collect":   {`return ""`, leftToCollect, ""},
		"a folder's order":  {`return ""`, `if state["n"]: return ""` + "\n    " + `import os, tempfile; d = tempfile.mkdtemp(); [tempfile.mkstemp(dir=d) for _ in range(3)]; return str(os.listdir(d))`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := checkPython(t, p, changed(t, base, c.old, c.with), few)
			if r.Accepted || c.reason != "" && (r.Stage != gate.StageDeterministic || !strings.Contains(r.Reason, c.reason)) {
				t.Errorf("accepted %v, stage %q, reason %q", r.Accepted, r.Stage, r.Reason)
			}
			t.Logf("stage %q, reason %q", r.Stage, r.Reason)
		})
	}
	for name, c := range map[string]struct{ tell, read string }{
		"hint leaves a global of a module": {"__import__('math').told = state['goal']", "str(getattr(__import__('math'), 'told', ''))"},
		"hint leaves a file":               {"open('/tmp/told', 'w').write('x')", "str(__import__('os').path.exists('/tmp/told'))"},
		"hint leaves a variable":           {"__import__('os').environ['told'] = 'x'", "str(__import__('os').environ.get('told'))"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			code := changed(t, base, "def hint(state):", "def hint(state):\n    "+c.tell)
			r := checkPython(t, p, changed(t, code, `return ""`, "return "+c.read), few)
			if r.Stage != gate.StageDeterministic || !strings.Contains(r.Reason, asked) {
				t.Errorf("stage %q, reason %q", r.Stage, r.Reason)
			}
		})
	}
}
