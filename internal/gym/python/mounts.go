package python

import (
	"cmp"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// list fills in what a process of the interpreter needs to see.
func (i *Interpreter) list(a answer) error {
	s := &shared{seen: map[string]bool{}}
	i.Mounts = append(i.Mounts, Mount{From: a.Path, At: a.Path})
	if err := s.add(a.Path); err != nil {
		return err
	}
	for _, path := range a.Library {
		info, err := os.Stat(path)
		if err != nil {
			continue // a place where something may lie, such as python311.zip
		}
		from, err := filepath.EvalSymlinks(path)
		if err != nil {
			return err
		}
		i.Mounts = append(i.Mounts, Mount{From: from, At: path, Dir: info.IsDir()})
		if info.IsDir() {
			if err := s.tree(path, a.Packages); err != nil {
				return err
			}
		}
	}
	for _, path := range a.Packages {
		if info, err := os.Stat(path); err == nil && info.IsDir() && i.holds(path) {
			i.Hidden = append(i.Hidden, path)
		}
	}
	i.Mounts = tidy(append(i.Mounts, s.mounts...))
	return nil
}

func (i *Interpreter) holds(path string) bool {
	return slices.ContainsFunc(i.Mounts, func(m Mount) bool { return m.Dir && within(path, m.At) })
}

func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, strings.TrimSuffix(folder, "/")+"/")
}

// Libraries lists the shared libraries outside a folder of packages that the extension modules in it need.
func Libraries(folder string) ([]Mount, error) {
	s := &shared{seen: map[string]bool{}}
	if err := s.tree(folder, nil); err != nil {
		return nil, err
	}
	mounts := slices.DeleteFunc(s.mounts, func(m Mount) bool { return within(m.At, folder) })
	return tidy(mounts), nil
}

// tree adds what the extension modules below folder need, leaving out the folders in without.
func (s *shared) tree(folder string, without []string) error {
	return filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && path != folder && slices.Contains(without, path):
			return filepath.SkipDir
		case entry.IsDir() || !strings.Contains(entry.Name(), ".so"), strings.HasPrefix(entry.Name(), "_tkinter."):
			return nil // windows need half of a desktop, and there is no screen
		}
		return s.add(path)
	})
}

// tidy sorts, and leaves out what lies inside a folder that is there already.
func tidy(mounts []Mount) []Mount {
	slices.SortFunc(mounts, func(a, b Mount) int { return cmp.Compare(a.At, b.At) })
	var out []Mount
	for _, m := range mounts {
		if !slices.ContainsFunc(out, func(o Mount) bool { return o.At == m.At || o.Dir && within(m.At, o.At) && within(m.From, o.From) }) {
			out = append(out, m)
		}
	}
	return out
}
