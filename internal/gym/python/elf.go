package python

import (
	"bufio"
	"debug/elf"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// shared collects the shared libraries that files need, as the dynamic loader would find them.
type shared struct {
	seen   map[string]bool
	mounts []Mount
}

// add collects the needs of one file and of everything they need. A file that is no ELF, as on macOS, needs nothing that
// we know of.
func (s *shared) add(path string) error {
	from, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	if s.seen[from] {
		return nil
	}
	s.seen[from] = true
	f, err := elf.Open(from)
	if err != nil {
		return nil //nolint:nilerr // none, or one that is cut or may not be read: whoever loads it will hear of it
	}
	defer f.Close() //nolint:errcheck // only read
	if err := s.loader(f); err != nil {
		return err
	}
	needed, err := f.ImportedLibraries()
	if err != nil {
		return nil //nolint:nilerr // linked statically
	}
	dirs := searchPath(f, filepath.Dir(path), filepath.Dir(from))
	for _, name := range needed {
		found, ok := locate(name, dirs, f.Class, f.Machine)
		if !ok {
			continue // the module that needs it does not work here either
		}
		if err := s.take(found); err != nil {
			return err
		}
	}
	return nil
}

func (s *shared) take(path string) error {
	from, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	s.mounts = append(s.mounts, Mount{From: from, At: path})
	return s.add(path)
}

// loader collects the program interpreter of an executable and the table by which it finds libraries.
func (s *shared) loader(f *elf.File) error {
	for _, p := range f.Progs {
		if p.Type != elf.PT_INTERP {
			continue
		}
		name := make([]byte, p.Filesz)
		if _, err := p.ReadAt(name, 0); err != nil {
			return err
		}
		for _, path := range []string{strings.TrimRight(string(name), "\x00"), "/etc/ld.so.cache"} {
			if _, err := os.Stat(path); err != nil {
				continue // another C library keeps no table
			}
			if err := s.take(path); err != nil {
				return err
			}
		}
	}
	return nil
}

// searchPath is where the loader looks for what f needs. $ORIGIN is the folder by which the file was opened, or the one
// that it is in.
func searchPath(f *elf.File, origins ...string) []string {
	var dirs []string
	for _, dir := range runPaths(f) {
		for _, origin := range origins {
			dirs = append(dirs, filepath.Clean(fromOrigin(dir, origin)))
		}
	}
	return append(slices.DeleteFunc(slices.Compact(dirs), func(d string) bool { return !filepath.IsAbs(d) }), systemDirs()...)
}

// locate finds the library for the same machine.
func locate(name string, dirs []string, class elf.Class, machine elf.Machine) (string, bool) {
	if filepath.IsAbs(name) {
		return name, true
	}
	for _, dir := range dirs {
		path := filepath.Join(dir, name)
		f, err := elf.Open(path)
		if err != nil {
			continue
		}
		fits := f.Class == class && f.Machine == machine
		_ = f.Close() // only read
		if fits {
			return path, true
		}
	}
	return "", false
}

// systemDirs are the folders that the loader knows, read once.
var systemDirs = sync.OnceValue(func() []string {
	dirs := configured("/etc/ld.so.conf", 0)
	for _, root := range []string{"/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"} {
		dirs = append(dirs, root)
		multi, _ := filepath.Glob(root + "/*-linux-gnu*") // the pattern is well-formed
		dirs = append(dirs, multi...)
	}
	return dirs
})

// configured reads the loader's list of folders with the lists that it includes.
func configured(path string, depth int) []string {
	f, err := os.Open(path)
	if err != nil || depth > 4 {
		return nil
	}
	defer f.Close() //nolint:errcheck // only read
	var dirs []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		line = strings.TrimSpace(line)
		if pattern, ok := strings.CutPrefix(line, "include "); ok {
			more, _ := filepath.Glob(strings.TrimSpace(pattern)) // one that is not well-formed includes nothing
			for _, name := range more {
				dirs = append(dirs, configured(name, depth+1)...)
			}
			continue
		}
		if filepath.IsAbs(line) {
			dirs = append(dirs, line)
		}
	}
	return dirs
}
