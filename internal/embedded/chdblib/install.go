package chdblib

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Settings are what code passes to Install.
type Settings struct {
	// Progress receives lines for people. Nil: none.
	Progress io.Writer
	// NPM is the client to run. Empty: "npm" on the PATH.
	NPM string
}

// Install fetches the pinned library with npm, unless it is there, and returns its path. It may run in several
// processes at once: one installs, the others wait and find it. An install that is cut short leaves nothing that
// Find would take.
func Install(ctx context.Context, cfg Config, set Settings) (string, error) {
	if set.Progress == nil {
		set.Progress = io.Discard
	}
	if path, err := Find(cfg); err == nil || !Missing(err) || cfg.Path != "" || os.Getenv("SPADE_LIBCHDB") != "" {
		return path, err
	}
	p, err := host()
	if err != nil {
		return "", err
	}
	target, err := cfg.target()
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(target), 0o755); err != nil {
		return "", fmt.Errorf("make the cache folder: %w", err)
	}
	unlock, err := lock(ctx, target+".lock", set.Progress)
	if err != nil {
		return "", err
	}
	defer unlock()
	if path, ok := library(target); ok {
		return path, nil
	}
	return p.fetch(ctx, target, set)
}

// fetch installs into a folder beside target and renames it. The caller holds the lock.
func (p pkg) fetch(ctx context.Context, target string, set Settings) (path string, err error) {
	npm, err := findNPM(set.NPM)
	if err != nil {
		return "", err
	}
	if err := checkSpace(filepath.Dir(target), p.unpacked+p.unpacked/2); err != nil {
		return "", err
	}
	if err := removeStale(target); err != nil {
		return "", err
	}
	staging, err := os.MkdirTemp(filepath.Dir(target), filepath.Base(target)+".tmp-")
	if err != nil {
		return "", fmt.Errorf("make a folder to install into: %w", err)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(staging)) }()

	if err := p.writeManifest(staging); err != nil {
		return "", err
	}
	bar := watch(set.Progress, staging, p)
	err = runNPM(ctx, npm, staging)
	bar.stop(err == nil)
	if err != nil {
		return "", fmt.Errorf("install %s %s with npm: %w", p.name, Version, err)
	}
	from := filepath.Join(staging, "node_modules", filepath.FromSlash(p.name))
	if _, ok := library(from); !ok {
		return "", fmt.Errorf("install %s %s with npm: npm ended without an error but left no library", p.name, Version)
	}
	if err := os.RemoveAll(target); err != nil { // of an earlier version's layout, or damaged
		return "", fmt.Errorf("replace the installed library: %w", err)
	}
	if err := os.Rename(from, target); err != nil {
		return "", fmt.Errorf("put the library in place: %w", err)
	}
	path, _ = library(target)
	return path, nil
}

func findNPM(name string) (string, error) {
	if name == "" {
		name = "npm"
	}
	npm, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%w, and it fetches the ClickHouse engine: install Node.js with npm (Debian and Ubuntu: apt-get install npm; "+
			"macOS: brew install node), or set SPADE_LIBCHDB to a libchdb you have", ErrNoNPM)
	}
	return npm, nil
}

// writeManifest writes the package.json, and where the checksum is known the lock file, that npm installs from.
func (p pkg) writeManifest(dir string) error {
	deps := map[string]string{p.name: Version}
	files := map[string]any{"package.json": map[string]any{"name": "spade-libchdb", "private": true, "dependencies": deps}}
	if p.integrity != "" {
		files["package-lock.json"] = map[string]any{
			"name": "spade-libchdb", "lockfileVersion": 3, "requires": true,
			"packages": map[string]any{
				"":                       map[string]any{"name": "spade-libchdb", "dependencies": deps},
				"node_modules/" + p.name: map[string]any{"version": Version, "integrity": p.integrity},
			},
		}
	}
	for name, value := range files {
		text, err := json.MarshalIndent(value, "", "  ")
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}
	return nil
}

func runNPM(ctx context.Context, npm, dir string) error {
	cmd := exec.CommandContext(ctx, npm, "install", "--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error")
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	text := strings.TrimSpace(out.String())
	if strings.Contains(text, "ENOSPC") {
		return fmt.Errorf("%w in %s or in npm's own cache", ErrDiskFull, filepath.Dir(dir))
	}
	if len(text) > 2000 {
		text = "…" + text[len(text)-2000:]
	}
	return fmt.Errorf("%w; npm said: %s", err, text)
}

func removeStale(target string) error {
	old, err := filepath.Glob(target + ".tmp-*")
	if err != nil {
		return fmt.Errorf("look for cut installs: %w", err)
	}
	for _, dir := range old {
		if err := os.RemoveAll(dir); err != nil {
			return fmt.Errorf("remove a cut install: %w", err)
		}
	}
	return nil
}
