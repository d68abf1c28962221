package cgroup

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// Parent is where groups are made. It may be used from several goroutines.
type Parent struct {
	version int
	// folders are the parent groups: one of version 2, or those of the controllers memory and pids of version 1.
	folders []string
	name    string
	made    atomic.Uint64
	tree    tree
}

// Version is that of the interface, 1 or 2.
func (p *Parent) Version() int { return p.version }

// Limits are those of one group. Swap is always none.
type Limits struct {
	MemoryBytes uint64
	// Processes counts threads.
	Processes uint64
}

// Group is one control group, in version 1 one for each controller.
type Group struct {
	version int
	folders []string
	rmdir   func(path string) error
}

// New makes a group. The caller removes it.
func (p *Parent) New(limits Limits) (*Group, error) {
	for {
		g, err := p.make(p.name + "-" + strconv.FormatUint(p.made.Add(1), 10))
		if errors.Is(err, fs.ErrExist) {
			continue // of another Parent of this process
		}
		if err != nil {
			return nil, fmt.Errorf("make a control group: %w", err)
		}
		if err := g.limit(limits); err != nil {
			return nil, errors.Join(fmt.Errorf("limit a control group: %w", err), g.Remove())
		}
		return g, nil
	}
}

func (p *Parent) make(name string) (*Group, error) {
	g := &Group{version: p.version, rmdir: p.tree.rmdir}
	for _, folder := range p.folders {
		path := filepath.Join(folder, name)
		if err := p.tree.mkdir(path); err != nil {
			return nil, errors.Join(err, g.Remove())
		}
		g.folders = append(g.folders, path)
	}
	return g, nil
}

func (g *Group) limit(limits Limits) error {
	memory, processes := strconv.FormatUint(limits.MemoryBytes, 10), strconv.FormatUint(limits.Processes, 10)
	if g.version == 2 {
		return errors.Join(
			write(g.folders[0], "memory.max", memory), write(g.folders[0], "memory.oom.group", "1"),
			write(g.folders[0], "pids.max", processes), optional(write(g.folders[0], "memory.swap.max", "0")),
		)
	}
	err := errors.Join(write(g.folders[0], "memory.limit_in_bytes", memory), write(g.folders[1], "pids.max", processes))
	if err != nil {
		return err
	}
	// Memory and swap together may not be more than memory alone; a kernel that does not count swap is told not to use it.
	if err := write(g.folders[0], "memory.memsw.limit_in_bytes", memory); err != nil {
		return optional(write(g.folders[0], "memory.swappiness", "0"))
	}
	return nil
}

// optional forgives what a kernel without swap accounting lacks.
func optional(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Add puts a process with all its threads into the group.
func (g *Group) Add(pid int) error {
	for _, folder := range g.folders {
		if err := write(folder, "cgroup.procs", strconv.Itoa(pid)); err != nil {
			return fmt.Errorf("put process %d into a control group: %w", pid, err)
		}
	}
	return nil
}

// OutOfMemory reports whether the kernel has ended a process of the group for want of memory.
func (g *Group) OutOfMemory() bool {
	file := "memory.events"
	if g.version == 1 {
		file = "memory.oom_control"
	}
	data, err := os.ReadFile(filepath.Join(g.folders[0], file))
	if err != nil {
		return false
	}
	for line := range bytes.Lines(data) {
		if n, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("oom_kill ")); ok {
			return string(n) != "0"
		}
	}
	return false
}

// killFor bounds how long Kill goes on against processes that start others.
const killFor = 5 * time.Second

// Signal sends every process of the group SIGKILL, and does not wait for their ends.
func (g *Group) Signal() error {
	if g.version == 2 {
		err := write(g.folders[0], "cgroup.kill", "1")
		if err == nil || !errors.Is(err, fs.ErrNotExist) { // before Linux 5.14 there is no such file
			return ignoreGone(err)
		}
	}
	pids, err := g.Processes()
	if err != nil {
		return ignoreGone(err)
	}
	var errs []error
	for _, pid := range pids {
		if err := unix.Kill(pid, unix.SIGKILL); err != nil && !errors.Is(err, unix.ESRCH) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Kill ends every process of the group, however many there are and whatever they ignore. A child of the caller must be
// waited for meanwhile or before, for some kernels count it until then.
func (g *Group) Kill() error {
	for deadline := time.Now().Add(killFor); ; {
		if err := g.Signal(); err != nil {
			return err
		}
		pids, err := g.Processes()
		if err != nil || len(pids) == 0 {
			return ignoreGone(err)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v of %s do not end", pids, g.folders[0])
		}
		time.Sleep(time.Millisecond)
	}
}

// Processes lists the processes in the group.
func (g *Group) Processes() ([]int, error) {
	data, err := os.ReadFile(filepath.Join(g.folders[0], "cgroup.procs"))
	if err != nil {
		return nil, err
	}
	var pids []int
	for _, field := range strings.Fields(string(data)) {
		pid, err := strconv.Atoi(field)
		if err != nil || pid == 0 { // 0: in another process namespace
			continue
		}
		pids = append(pids, pid)
	}
	return pids, nil
}

// removeFor is how long a group may be busy after its last process has ended: the kernel lets go of it a moment later.
const removeFor = 5 * time.Second

// Remove removes the group, in which no process may be left. It may be called again.
func (g *Group) Remove() error {
	var errs []error
	for _, folder := range g.folders {
		errs = append(errs, g.remove(folder))
	}
	return errors.Join(errs...)
}

func (g *Group) remove(folder string) error {
	pause := 100 * time.Microsecond
	for deadline := time.Now().Add(removeFor); ; {
		err := g.rmdir(folder)
		switch {
		case err == nil, errors.Is(err, unix.ENOENT):
			return nil
		case !errors.Is(err, unix.EBUSY), time.Now().After(deadline):
			return fmt.Errorf("remove control group %s: %w", folder, err)
		}
		time.Sleep(pause)
		pause = min(2*pause, 20*time.Millisecond)
	}
}

func ignoreGone(err error) error {
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ENODEV) {
		return nil
	}
	return err
}

// write writes a setting, which must be there already.
func write(folder, file, value string) error {
	f, err := os.OpenFile(filepath.Join(folder, file), os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(value)
	return errors.Join(err, f.Close())
}
