package python

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
)

// LibraryPath is where the loader of a program looks for libraries relative to the program's own file, which it asks
// /proc for: where there is none, it has to be told. It is empty for most.
func LibraryPath(program string) string {
	f, err := elf.Open(program)
	if err != nil {
		return "" // whoever starts it will hear of it
	}
	defer f.Close() //nolint:errcheck // only read
	var dirs []string
	for _, dir := range runPaths(f) {
		if at := fromOrigin(dir, filepath.Dir(program)); at != dir {
			dirs = append(dirs, filepath.Clean(at))
		}
	}
	return strings.Join(slices.Compact(dirs), ":")
}

// runPaths are the folders that a file tells its loader to look in, as they are written there.
func runPaths(f *elf.File) []string {
	var dirs []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		values, err := f.DynString(tag)
		if err != nil {
			continue // it is linked statically
		}
		dirs = append(dirs, strings.Split(strings.Join(values, ":"), ":")...)
	}
	return dirs
}

// fromOrigin puts the folder that a file is in where one of its folders says $ORIGIN.
func fromOrigin(dir, origin string) string {
	return strings.NewReplacer("${ORIGIN}", origin, "$ORIGIN", origin).Replace(dir)
}
