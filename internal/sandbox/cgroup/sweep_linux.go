package cgroup

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/seed256f7767/spade/internal/sandbox/maker"
)

// Sweep ends and removes the groups whose makers are gone: a maker that was killed could not do it itself.
func (p *Parent) Sweep() error {
	var errs []error
	for _, name := range p.stale() {
		g := &Group{version: p.version, rmdir: p.tree.rmdir}
		for _, folder := range p.folders {
			if _, err := os.Stat(filepath.Join(folder, name)); err == nil {
				g.folders = append(g.folders, filepath.Join(folder, name))
			}
		}
		if len(g.folders) > 0 {
			errs = append(errs, g.Kill(), g.Remove())
		}
	}
	return errors.Join(errs...)
}

func (p *Parent) stale() []string {
	seen := map[string]bool{}
	var names []string
	for _, folder := range p.folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, e := range entries {
			if !seen[e.Name()] && e.IsDir() && maker.Gone(e.Name()) {
				names = append(names, e.Name())
			}
			seen[e.Name()] = true
		}
	}
	return names
}

// Count returns how many groups there are whose names begin with that of their maker.
func (p *Parent) Count(maker string) (int, error) {
	n := 0
	for _, folder := range p.folders {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return 0, err
		}
		for _, e := range entries {
			if e.IsDir() && strings.HasPrefix(e.Name(), maker+"-") {
				n++
			}
		}
	}
	return n, nil
}
