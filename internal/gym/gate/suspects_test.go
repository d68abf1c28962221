package gate

import (
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
)

// Each name is found where it is used, and not in words that only look like it.
func TestSuspects(t *testing.T) {
	for code, want := range map[string]string{
		"x = os.urandom(4)":                        "os.urandom",
		"from uuid import uuid1":                   "uuid",
		"import secrets":                           "secrets",
		"g = numpy.random.default_rng()":           "default_rng",
		"r = random.Random()":                      "random.Random()",
		"x = id(state)":                            "id()",
		"x = sorted(a, key=hash) + [hash(a)]":      "hash",
		"f'{state!r}'":                             "the text of an object",
		"import threading":                         "threads",
		"os.getpid()":                              "process and thread numbers",
		"t = time.perf_counter()":                  "time that has passed",
		"import gc":                                "when objects are collected",
		"with tempfile.TemporaryDirectory() as d:": "names of temporary files",
		// None of these says anything.
		"queue = [start]; secrets = ['a']; times(3)": "",
		"grid(3) + valid(x) + self.id(4)":            "",
		"random.Random(7); text.str(4) + str(5)":     "",
		"gcd = math.gcd(4, 6); uuidish = rehash(2)":  "",
	} {
		s := session{src: gym.Source{Runtime: gym.RuntimePython, Code: code}}
		got := s.unnamed()
		_, named, found := strings.Cut(got, "; the source uses ")
		if found != (want != "") || !strings.Contains(named, want) {
			t.Errorf("%s: %q", code, got)
		}
	}
	s := session{src: gym.Source{Runtime: gym.RuntimeStarlark, Code: "os.urandom(4)"}}
	if got := s.unnamed(); strings.Contains(got, "urandom") {
		t.Errorf("Starlark: %q", got)
	}
}
