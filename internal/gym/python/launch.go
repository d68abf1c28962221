package python

import "strconv"

// Flags are the interpreter's own: no site folder, nothing of the user's, no byte code written, and UTF-8 whatever the
// locale. Not -I, which would ignore PYTHONHASHSEED too.
func Flags() []string { return []string{"-S", "-s", "-B", "-X", "utf8"} }

// Environment is what every worker has in its environment. A caller may add what the loader or libraries need. The worker
// takes all of it away before it loads a source.
func Environment(hashSeed uint32, timeZone, locale string) []string {
	return []string{"PYTHONHASHSEED=" + strconv.FormatUint(uint64(hashSeed), 10), "TZ=" + timeZone, "LC_ALL=" + locale}
}
