package app

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/seed256f7767/spade/internal/config"
	"github.com/seed256f7767/spade/internal/gym"
)

// A run without the full sandbox says so, whatever the level of the log, and its tier is what its workers have.
func TestEverySandboxTierIsChosenAndSaid(t *testing.T) {
	for tier, want := range map[string]string{"full": gym.TierStarlark, "limits": "limits", "none": "none"} {
		for _, level := range []slog.Level{slog.LevelWarn, slog.LevelError} {
			l, err := config.Load(config.Sources{Flags: map[string]string{"sandbox.tier": tier}})
			must(t, err)
			var out bytes.Buffer
			pool, err := StartPool(t.Context(), l.Config, 1, nil, slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{Level: level})))
			must(t, err)
			got, err := tiers(t.Context(), pool, []gym.Source{{Runtime: gym.RuntimeStarlark, Code: smallest}})
			must(t, err)
			must(t, pool.Shutdown(context.WithoutCancel(t.Context())))
			if !strings.HasPrefix(got, want) {
				t.Errorf("%s: tier %q", tier, got)
			}
			if said := strings.Count(out.String(), "without the full sandbox"); (tier == "full") != (said == 0) || said > 1 {
				t.Errorf("%s at level %s says\n%s", tier, level, out.String())
			}
		}
	}
	var c config.Config
	c.Sandbox.Tier = "fulll"
	if _, err := StartPool(t.Context(), c, 1, nil, slog.New(slog.DiscardHandler)); err == nil || !strings.Contains(err.Error(), `"fulll" is none of`) {
		t.Errorf("a tier that there is none of: %v", err)
	}
}

func TestAPackageSetThatIsNotInstalledIsNamed(t *testing.T) {
	l, err := config.Load(config.Sources{Flags: map[string]string{
		"sandbox.tier": "none", "python.packages": "mine=/nowhere/site-packages", "cache": t.TempDir(),
	}})
	must(t, err)
	_, err = StartPool(t.Context(), l.Config, 1, []string{"mine", "gymnasium"}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), "spade env install gymnasium") {
		t.Errorf("a set that is not installed: %v", err)
	}
	_, err = StartPool(t.Context(), l.Config, 1, []string{"nosuch"}, slog.New(slog.DiscardHandler))
	if err == nil || !strings.Contains(err.Error(), `"nosuch" is none of the package sets gymnasium`) || strings.Contains(err.Error(), "no such pool") {
		t.Errorf("a set that there is none of: %v", err)
	}
}

// An interpreter may be a shim that takes its time. Nobody waits for it who needs no package set that depends on its version.
func TestNoPythonIsAskedForWhereNoneIsNeeded(t *testing.T) {
	dir := t.TempDir()
	asked, python := filepath.Join(dir, "asked"), filepath.Join(dir, "python3")
	must(t, os.WriteFile(python, []byte("#!/bin/sh\necho x >>'"+asked+"'\nexit 1\n"), 0o700)) //nolint:gosec // it is a program
	l, err := config.Load(config.Sources{Flags: map[string]string{
		"python.interpreter": python, "python.packages": "mine=/somewhere/site-packages", "cache": dir,
	}})
	must(t, err)
	for _, c := range []struct {
		sets []string
		want int
	}{{nil, 0}, {[]string{"", "mine"}, 0}, {[]string{"", "gymnasium", "gem"}, 1}} { // and a Python that fails says so
		must(t, os.RemoveAll(asked))
		got, err := packageFolders(t.Context(), l.Config, c.sets)
		if (err != nil) != (c.want > 0) || err == nil && (len(got) != 1 || got["mine"] != "/somewhere/site-packages") {
			t.Errorf("%q: %v, %v", c.sets, got, err)
		}
		if said, _ := os.ReadFile(asked); strings.Count(string(said), "x") != c.want { //nolint:gosec // the test's own file
			t.Errorf("%q: Python was asked %d times", c.sets, strings.Count(string(said), "x"))
		}
	}
}
