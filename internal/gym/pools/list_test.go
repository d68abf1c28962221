package pools

import (
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/gym/gymtest"
)

// pretend is a package folder with just so much of Gymnasium that its catalogue can be read.
func pretend(t *testing.T, version string) *gym.Pool {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"gymnasium/__init__.py":      "def make(name, **options):\n    raise RuntimeError('not in this one')\n",
		"gymnasium/envs/__init__.py": "",
		"gymnasium/envs/registration.py": "class Spec:\n    entry_point = 'gymnasium.envs.box2d:X'\n" +
			"registry = {'FrozenLake-v1': Spec, 'Taxi-v4': Spec, 'LunarLander-v3': Spec}\n",
		"gymnasium-" + version + ".dist-info/METADATA": "Metadata-Version: 2.1\nName: gymnasium\nVersion: " + version + "\n",
	})
	return gymtest.NewPool(t, gym.Config{
		Sandbox: gym.SandboxLimits, Spares: -1, MemoryBytes: 256 << 20,
		Python: gym.PythonConfig{Packages: map[string]string{"gymnasium": dir}},
	})
}

func TestList(t *testing.T) {
	workers := pretend(t, "1.4.0")
	all, err := List(t.Context(), workers, Spec{Set: "gymnasium", Name: "*"})
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 2 || all[0].Name != "gymnasium:FrozenLake-v1" || all[1].Name != "gymnasium:Taxi-v4" {
		t.Fatalf("entries %+v", all)
	}
	one, err := List(t.Context(), workers, Spec{Set: "gymnasium", Name: "Taxi-v4"})
	if err != nil || len(one) != 1 || one[0] != all[1] {
		t.Errorf("one: %+v, %v", one, err)
	}
	if e := all[0]; e.Package != "gymnasium" || e.Version != "1.4.0" || e.SeedFrom != 0 || e.SeedTo != 1<<31-1 || e.Source.Package != "gymnasium" {
		t.Errorf("entry %+v", e)
	}
	if start, err := List(t.Context(), workers, Spec{Set: "gymnasium", Name: "Fro*"}); err != nil || len(start) != 1 {
		t.Errorf("by the beginning of its name: %+v, %v", start, err)
	}

	for name, says := range map[string]string{"FrozenLke-v1": "FrozenLake-v1, Taxi-v4", "LunarLander-v3": "Box2D"} {
		_, err := List(t.Context(), workers, Spec{Set: "gymnasium", Name: name})
		if !errors.Is(err, ErrSpec) || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: %v", name, err)
		}
	}
	absent, err := Missing(t.Context(), workers, Spec{Set: "gymnasium", Name: "*"})
	if err != nil || len(absent) != 1 || absent[0].Name != "LunarLander-v3" {
		t.Errorf("missing: %+v, %v", absent, err)
	}
}

func TestSourceIsForOneVersion(t *testing.T) {
	entries, err := List(t.Context(), pretend(t, "1.4.0"), Spec{Set: "gymnasium", Name: "Taxi-v4"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = pretend(t, "1.5.0").Open(t.Context(), entries[0].Source)
	refused, ok := errors.AsType[*gym.SourceError](err)
	if !ok || refused.Stage != "load" || !strings.Contains(refused.Fault.Error, "gymnasium 1.5.0 is installed, the source is for 1.4.0") {
		t.Errorf("error %v", err)
	}
}

// A pool that was imported with another revision of the adapter would be another pool.
func TestSourceIsForOneRevisionOfTheAdapter(t *testing.T) {
	workers := pretend(t, "1.4.0")
	entries, err := List(t.Context(), workers, Spec{Set: "gymnasium", Name: "Taxi-v4"})
	if err != nil {
		t.Fatal(err)
	}
	now := regexp.MustCompile(`, adapter=(\d+)\)`).FindStringSubmatch(entries[0].Source.Code)
	if now == nil {
		t.Fatalf("no revision in\n%s", entries[0].Source.Code)
	}
	for argument, says := range map[string]string{
		", adapter=9999": "the adapter of gymnasium has revision " + now[1] + " here, the source is for 9999", "": "adapter",
	} {
		src := entries[0].Source
		src.Code = strings.Replace(src.Code, ", adapter="+now[1], argument, 1)
		_, err := workers.Open(t.Context(), src)
		refused, ok := errors.AsType[*gym.SourceError](err)
		if !ok || refused.Stage != "load" || !strings.Contains(refused.Fault.Error, says) {
			t.Errorf("%q: error %v", argument, err)
		}
	}
}

func TestCatalogueThatFails(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{"gymnasium/__init__.py": "raise RuntimeError('broken install')\n"})
	workers := gymtest.NewPool(t, gym.Config{
		Sandbox: gym.SandboxLimits, Spares: -1, MemoryBytes: 256 << 20,
		Python: gym.PythonConfig{Packages: map[string]string{"gymnasium": filepath.Clean(dir)}},
	})
	if _, err := List(t.Context(), workers, Spec{Set: "gymnasium", Name: "*"}); err == nil || !strings.Contains(err.Error(), "broken install") {
		t.Errorf("error %v", err)
	}
	if _, err := List(t.Context(), workers, Spec{Set: "gem", Name: "*"}); err == nil || !strings.Contains(err.Error(), "gem") {
		t.Errorf("a set that is not installed: %v", err)
	}
}
