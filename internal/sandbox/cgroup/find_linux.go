package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/seed256f7767/spade/internal/sandbox/maker"
)

// ErrUnavailable says that this process may not make control groups with limits; the text around it says why.
var ErrUnavailable = errors.New("no control group can be made here")

// system is where the kernel tells about control groups; tests have one of their own.
type system struct {
	// membership and mounts are /proc/self/cgroup and /proc/self/mountinfo.
	membership, mounts string
	tree
}

// tree makes and removes groups.
type tree struct{ mkdir, rmdir func(path string) error }

// kernel is where groups really are.
var kernel = tree{mkdir: func(path string) error { return os.Mkdir(path, 0o755) }, rmdir: unix.Rmdir}

// Find looks for a place below this process's own groups where it may make groups with limits on memory and processes. It
// proves that by making one and putting a child into it.
func Find() (*Parent, error) {
	return system{"/proc/self/cgroup", "/proc/self/mountinfo", kernel}.find()
}

func (s system) find() (*Parent, error) {
	own, err := s.own()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	name, err := maker.Name(os.Getpid())
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	var errs []error
	for _, try := range []func(map[string]string, string) (*Parent, error){s.unified, s.split} {
		p, err := try(own, name)
		if err == nil {
			return p, nil
		}
		errs = append(errs, err)
	}
	return nil, fmt.Errorf("%w: %w", ErrUnavailable, errors.Join(errs...))
}

// own returns this process's folder in each hierarchy, by controller; version 2 has the name "".
func (s system) own() (map[string]string, error) {
	mounts, err := s.mounted()
	if err != nil {
		return nil, err
	}
	data, err := os.ReadFile(s.membership)
	if err != nil {
		return nil, err
	}
	own := map[string]string{}
	for line := range strings.Lines(string(data)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		for _, controller := range strings.Split(parts[1], ",") {
			if m, ok := mounts[controller]; ok {
				own[controller] = m.folder(parts[2])
			}
		}
	}
	return own, nil
}

// mount is one mounted hierarchy: the group root of which is at the folder point.
type mount struct{ root, point string }

// folder is where the group of that path is mounted.
func (m mount) folder(group string) string {
	rel, err := filepath.Rel(m.root, group)
	if err != nil || strings.HasPrefix(rel, "..") {
		rel = "." // the namespace's own root, seen from outside
	}
	return filepath.Join(m.point, rel)
}

// mounted returns the hierarchies by controller.
func (s system) mounted() (map[string]mount, error) {
	data, err := os.ReadFile(s.mounts)
	if err != nil {
		return nil, err
	}
	found := map[string]mount{}
	for line := range strings.Lines(string(data)) {
		before, after, ok := strings.Cut(line, " - ")
		fields, kind := strings.Fields(before), strings.Fields(after)
		if !ok || len(fields) < 5 || len(kind) < 3 {
			continue
		}
		m := mount{root: fields[3], point: fields[4]}
		switch kind[0] {
		case "cgroup2":
			found[""] = m
		case "cgroup":
			for _, option := range strings.Split(kind[2], ",") {
				if option == "memory" || option == "pids" {
					found[option] = m
				}
			}
		}
	}
	return found, nil
}

// unified finds a place in version 2: the nearest group at or above the own one that hands both controllers to the groups
// below it, or can be made to.
func (s system) unified(own map[string]string, name string) (*Parent, error) {
	folder, ok := own[""]
	if !ok {
		return nil, errors.New("version 2 is not mounted")
	}
	var errs []error
	for range 16 { // levels
		p := &Parent{version: 2, name: name, folders: []string{folder}, tree: s.tree}
		err := p.delegate()
		if err == nil {
			err = p.prove()
		}
		if err == nil {
			return p, nil
		}
		errs = append(errs, fmt.Errorf("version 2 at %s: %w", folder, err))
		if limit := limitOf(folder); limit != "" { // what this process was given would not hold for its workers
			errs = append(errs, fmt.Errorf("not above it, because of its %s", limit))
			break
		}
		folder = filepath.Dir(folder)
		if _, err := os.Stat(filepath.Join(folder, "cgroup.procs")); err != nil {
			break
		}
	}
	return nil, errors.Join(errs...)
}

// limitOf names a limit of a group's own on what we limit, if it has one. One that its maker has set without being asked, as
// systemd does with the tasks of a scope, cannot be told from one that somebody wants; so it holds, and the advice is to have
// none.
func limitOf(folder string) string {
	for _, file := range []string{"memory.max", "memory.high", "pids.max"} {
		value, err := os.ReadFile(filepath.Join(folder, file))
		if text := strings.TrimSpace(string(value)); err == nil && text != "max" {
			return file + " of " + text
		}
	}
	return ""
}

// delegate makes the group hand the controllers down.
func (p *Parent) delegate() error {
	folder := p.folders[0]
	has, err := os.ReadFile(filepath.Join(folder, "cgroup.subtree_control"))
	if err != nil {
		return err
	}
	var lacking []string
	for _, c := range []string{"memory", "pids"} {
		if !strings.Contains(" "+strings.TrimSpace(string(has))+" ", " "+c+" ") {
			lacking = append(lacking, "+"+c)
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return write(folder, "cgroup.subtree_control", strings.Join(lacking, " "))
}

// split finds a place in version 1, which has a hierarchy for each controller.
func (s system) split(own map[string]string, name string) (*Parent, error) {
	p := &Parent{version: 1, name: name, tree: s.tree}
	for _, c := range []string{"memory", "pids"} {
		folder, ok := own[c]
		if !ok {
			return nil, fmt.Errorf("version 1 has no controller %s", c)
		}
		p.folders = append(p.folders, folder)
	}
	if err := p.prove(); err != nil {
		return nil, fmt.Errorf("version 1 at %s: %w", strings.Join(p.folders, ", "), err)
	}
	return p, nil
}
