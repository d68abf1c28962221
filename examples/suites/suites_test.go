package suites

import (
	"errors"
	"strings"
	"testing"
	"testing/fstest"
)

func TestBuiltinSuitesAreWideEnough(t *testing.T) {
	all, err := Builtin()
	if err != nil {
		t.Fatal(err)
	}
	total, novel := 0, 0
	mechanics := map[string]string{}
	for _, s := range all {
		categories := map[string]int{}
		for _, task := range s.Tasks {
			total++
			categories[task.Category]++
			if !task.Expressible {
				novel++
			}
			if (task.Group == "novel") == task.Expressible {
				t.Errorf("%s %s: group %s, expressible %v", s.Name, task.ID, task.Group, task.Expressible)
			}
			if other, ok := mechanics[task.Mechanic]; ok {
				t.Errorf("%s %s: mechanic %q is also in %s", s.Name, task.ID, task.Mechanic, other)
			}
			mechanics[task.Mechanic] = s.Name + " " + task.ID
		}
		for _, c := range []string{"math", "science", "code", "reasoning", "tools", "games"} {
			if categories[c] == 0 {
				t.Errorf("suite %s has no %s task", s.Name, c)
			}
		}
	}
	if total < 48 || 2*novel < total {
		t.Errorf("%d tasks, %d of them novel", total, novel)
	}
}

func TestLoadNamesWhatIsWrong(t *testing.T) {
	cases := map[string]string{
		"not json":      `{`,
		"unknown field": `{"format": 1, "suits": []}`,
		"other format":  `{"format": 2, "suites": []}`,
		"missing file":  `{"format": 1, "suites": [{"name": "a", "tasks": [{"id": "x", "group": "novel", "file": "x.star"}]}]}`,
		"repeated id":   `{"format": 1, "suites": [{"name": "a", "tasks": [{"id": "x", "group": "novel", "file": "y.star"}, {"id": "x", "group": "novel", "file": "y.star"}]}]}`,
		"bad group":     `{"format": 1, "suites": [{"name": "a", "tasks": [{"id": "x", "group": "easy", "file": "y.star"}]}]}`,
	}
	for name, manifest := range cases {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{"manifest.json": {Data: []byte(manifest)}, "y.star": {Data: []byte("META = {}")}}
			if _, err := Load(fsys); !errors.Is(err, ErrManifest) {
				t.Fatalf("got %v, want ErrManifest", err)
			}
		})
	}
}

func TestTheDigestCoversWhatAReportTells(t *testing.T) {
	digest := func(old, changed string) string {
		t.Helper()
		manifest := `{"format": 1, "suites": [{"name": "a", "tasks": [{"id": "x", "category": "math", "mechanic": "m", "group": "novel", ` +
			`"expressible": true, "file": "y.star"}]}]}`
		fsys := fstest.MapFS{
			"manifest.json": {Data: []byte(strings.Replace(manifest, old, changed, 1))},
			"y.star":        {Data: []byte("META = {}")}, "y.py": {Data: []byte("META = {}")},
		}
		all, err := Load(fsys)
		if err != nil {
			t.Fatal(err)
		}
		return all[0].SHA256
	}
	whole := digest("", "")
	for old, changed := range map[string]string{
		"math": "code", "novel": "harder", `"x"`: `"z"`, `"m"`: `"n"`, "true": "false", "y.star": "y.py",
	} {
		if digest(old, changed) == whole {
			t.Errorf("with %s for %s the digest is the same", changed, old)
		}
	}
}
