package gym

import (
	"path/filepath"
	"strings"
)

// Runtimes are all of them, that of a file whose name does not tell first.
func Runtimes() []string { return []string{RuntimeStarlark, RuntimePython} }

// Suffix is how the name of a file in a runtime's language ends.
func Suffix(runtime string) string {
	if runtime == RuntimePython {
		return ".py"
	}
	return ".star"
}

// RuntimeOfFile is the runtime that the ending of a file's name tells, in letters of either case; empty where it tells none.
func RuntimeOfFile(name string) string {
	ending := strings.ToLower(filepath.Ext(name))
	for _, runtime := range Runtimes() {
		if ending == Suffix(runtime) {
			return runtime
		}
	}
	return ""
}
