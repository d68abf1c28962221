package doctor_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/cmd/spade/internal/doctor"
	"github.com/seed256f7767/spade/internal/gym"
	"github.com/seed256f7767/spade/internal/sandbox"
)

func TestSandboxLayers(t *testing.T) {
	missing := &sandbox.MissingError{Layer: sandbox.Namespaces, Remedy: "allow them", Err: errors.New("operation not permitted")}
	look := func(context.Context) ([]gym.Standing, error) {
		return []gym.Standing{
			{Runtime: "starlark", Tier: "starlark-1-no-landlock", Asked: sandbox.Seccomp | sandbox.Landlock, Have: sandbox.Seccomp},
			{
				Runtime: "python", Tier: "python-1", Asked: sandbox.Seccomp | sandbox.Namespaces | sandbox.Root | sandbox.Cgroup,
				Groups: "version 1", Err: fmt.Errorf("sandbox: %w", missing),
			},
		}, nil
	}
	want := map[string]struct {
		status doctor.Status
		text   string
	}{
		"seccomp": {doctor.OK, "in force for starlark"}, "landlock": {doctor.Warn, "missing for starlark"},
		"namespaces": {doctor.Warn, "missing for python"}, "root": {doctor.Warn, "not tried for python"},
		"cgroup": {doctor.Warn, "not tried for python: version 1"}, "privileges": {doctor.Warn, "not asked for"},
	}
	seen := 0
	for _, c := range doctor.Layers(look) {
		f := c.Look(t.Context())
		w, ok := want[c.Name]
		if !ok {
			continue
		}
		seen++
		if f.Status != w.status || !strings.Contains(f.Detail, strings.TrimSuffix(w.text, ": version 1")) {
			t.Errorf("%s: %+v", c.Name, f)
		}
		if strings.HasPrefix(f.Detail, "missing") && f.Remedy == "" {
			t.Errorf("%s: no remedy", c.Name)
		}
	}
	if seen != len(want) {
		t.Errorf("%d layers of %d", seen, len(want))
	}
	for _, needed := range []bool{false, true} {
		f := doctor.Sandbox("python", "python", needed, look).Look(t.Context())
		if (f.Status == doctor.Fail) != needed || f.Remedy != "allow them" || strings.Contains(f.Detail, "allow them") {
			t.Errorf("needed %v: %+v", needed, f)
		}
	}
	if f := doctor.Sandbox("sandbox", "starlark", true, look).Look(t.Context()); f.Status != doctor.OK || !strings.Contains(f.Detail, "no-landlock") {
		t.Errorf("%+v", f)
	}
}

// TestATierThatConfinesNothingIsNotPraised: nothing was tried, or only a memory hog was.
func TestATierThatConfinesNothingIsNotPraised(t *testing.T) {
	for tier, want := range map[string]string{
		"none": "not confined: none has the watchdog only", "limits": "limited, not confined: limits ends a memory hog",
	} {
		look := func(context.Context) ([]gym.Standing, error) {
			return []gym.Standing{{Runtime: "python", Tier: tier}}, nil
		}
		f := doctor.Sandbox("sandbox", "python", true, look).Look(t.Context())
		if f.Status != doctor.Warn || f.Remedy == "" || !strings.Contains(f.Detail, want) || !strings.Contains(f.Detail, "read your files") {
			t.Errorf("%s: %+v", tier, f)
		}
	}
}
