package gym

import (
	"debug/elf"
	"path/filepath"
	"slices"
	"strings"
)

// libraryPath is where the loader of a program looks for libraries relative to the program's own file, which it asks
// /proc for: where there is none, it has to be told. It is empty for most.
func libraryPath(program string) string {
	f, err := elf.Open(program)
	if err != nil {
		return "" // whoever starts it will hear of it
	}
	defer f.Close() //nolint:errcheck // only read
	var dirs []string
	for _, tag := range []elf.DynTag{elf.DT_RPATH, elf.DT_RUNPATH} {
		values, err := f.DynString(tag)
		if err != nil {
			continue
		}
		for _, dir := range strings.Split(strings.Join(values, ":"), ":") {
			if strings.Contains(dir, "$ORIGIN") || strings.Contains(dir, "${ORIGIN}") {
				origin := strings.NewReplacer("${ORIGIN}", filepath.Dir(program), "$ORIGIN", filepath.Dir(program))
				dirs = append(dirs, filepath.Clean(origin.Replace(dir)))
			}
		}
	}
	return strings.Join(slices.Compact(dirs), ":")
}
