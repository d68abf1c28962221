package cgroup

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// prefix begins the name of every group of ours.
const prefix = "spade"

// makerName names the groups of a process: its process namespace, its number there and when it started, so that a later
// process of the same number is not taken for it.
func makerName(pid int) (string, error) {
	ns, err := os.Readlink("/proc/self/ns/pid") // pid:[4026531836]
	if err != nil {
		return "", err
	}
	started, err := startTime(pid)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s-%s-%d-%s", prefix, strings.Trim(strings.TrimPrefix(ns, "pid:"), "[]"), pid, started), nil
}

// startTime is when a process started, in ticks since the machine did.
func startTime(pid int) (string, error) {
	data, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", err
	}
	_, rest, _ := strings.Cut(string(data[strings.LastIndexByte(string(data), ')')+1:]), " ")
	fields := strings.Fields(rest)
	const started = 19 // the 22nd field, counted from the third
	if len(fields) <= started {
		return "", fmt.Errorf("no start time of process %d", pid)
	}
	return fields[started], nil
}

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
			if !seen[e.Name()] && e.IsDir() && makerGone(e.Name(), p.name) {
				names = append(names, e.Name())
			}
			seen[e.Name()] = true
		}
	}
	return names
}

// makerGone reports whether the maker of a group was in our process namespace and has ended.
func makerGone(group, ours string) bool {
	parts, own := strings.Split(group, "-"), strings.Split(ours, "-")
	if len(parts) != 5 || parts[0] != prefix || parts[1] != own[1] {
		return false
	}
	pid, err := strconv.Atoi(parts[2])
	if err != nil {
		return false
	}
	started, err := startTime(pid)
	return err != nil || started != parts[3]
}
