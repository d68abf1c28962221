package pools

import (
	"errors"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Spec{
		"gymnasium:FrozenLake-v1":            {Set: "gymnasium", Name: "FrozenLake-v1"},
		"reasoning-gym:*":                    {Set: "reasoning-gym", Name: "*"},
		"gem:game:GuessTheNumber-v0-easy":    {Set: "gem", Name: "game:GuessTheNumber-v0-easy"},
		"bfcl:multi_turn_base":               {Set: "bfcl", Name: "multi_turn_base"},
		"examples/environments":              {Path: "examples/environments"},
		"one.star":                           {Path: "one.star"},
		"./gymnasium":                        {Path: "./gymnasium"},
		"./odd:name.py":                      {Path: "./odd:name.py"},
		"/srv/pool":                          {Path: "/srv/pool"},
		"environments":                       {Path: "environments"},
		`C:\pool`:                            {},
		"":                                   {},
		"gymnasium":                          {},
		"gymnasium:":                         {},
		"gymnasum:FrozenLake-v1":             {},
		"openai:gpt":                         {},
		"\x1b]0;title\x07:x":                 {},
		strings.Repeat("a", 300) + ":" + "b": {},
	} {
		got, err := Parse(text)
		if want == (Spec{}) {
			if !errors.Is(err, ErrSpec) {
				t.Errorf("Parse(%q) = %+v, %v; want an error that is ErrSpec", text, got, err)
			}
			continue
		}
		if err != nil || got != want {
			t.Errorf("Parse(%q) = %+v, %v; want %+v", text, got, err, want)
		}
		if got.String() != text {
			t.Errorf("Parse(%q).String() = %q", text, got)
		}
	}
}

func TestParseNamesTheSets(t *testing.T) {
	_, err := Parse("gymnasum:FrozenLake-v1")
	for _, name := range Names() {
		if !strings.Contains(err.Error(), name) {
			t.Errorf("%q does not name %s", err, name)
		}
	}
	if _, err := Parse("\x1b]0;title\x07:x"); strings.ContainsRune(err.Error(), '\x1b') {
		t.Errorf("%q passes control characters on", err)
	}
}

func TestLocks(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range sets {
		lock, err := s.lock()
		if err != nil {
			t.Fatal(err)
		}
		if s.version(lock) == "" {
			t.Errorf("the lock of %s has no version of %s", s.name, s.distribution)
		}
		if seen[s.digest(lock)] {
			t.Errorf("%s has the lock of another set", s.name)
		}
		seen[s.digest(lock)] = true
		for line := range strings.Lines(lock) {
			requirement, _, _ := strings.Cut(strings.TrimSpace(line), ";")
			name, version, found := strings.Cut(requirement, "==")
			if !found || name == "" || version == "" || strings.ContainsAny(line, "/@") {
				t.Errorf("%s: %q pins nothing, or says where from", s.name, line)
			}
		}
		if s.licence == "" || s.fetched == 0 || s.installed == 0 || s.pythonFrom < 10 || s.pythonTo < s.pythonFrom {
			t.Errorf("%s: %+v", s.name, s)
		}
	}
}
