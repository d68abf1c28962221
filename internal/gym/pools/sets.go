package pools

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"strings"
)

//go:embed locks/*.txt
var locks embed.FS

// set is a list of packages that are installed together, and the adapter that knows them.
type set struct {
	name string
	// distribution is the package on the registry whose environments these are; its version is in the lock.
	distribution string
	// adapter is the module in spade_pools.
	adapter string
	licence string
	// fetched and installed are about how many megabytes cross the network and are then on disk.
	fetched, installed int
	// python is the range of minor versions of Python 3 that the lock is for.
	pythonFrom, pythonTo int
}

var sets = []set{
	{
		name: "gymnasium", distribution: "gymnasium", adapter: "gymnasium_pool", licence: "MIT",
		fetched: 17, installed: 78, pythonFrom: 10, pythonTo: 13,
	},
	{
		name: "reasoning-gym", distribution: "reasoning_gym", adapter: "reasoning_pool", licence: "Apache-2.0",
		fetched: 33, installed: 205, pythonFrom: 10, pythonTo: 13,
	},
	{
		name: "bfcl", distribution: "bfcl_eval", adapter: "bfcl_pool", licence: "Apache-2.0",
		fetched: 3, installed: 21, pythonFrom: 10, pythonTo: 13,
	},
	{
		name: "textarena", distribution: "textarena", adapter: "textarena_pool", licence: "MIT",
		fetched: 18, installed: 81, pythonFrom: 10, pythonTo: 13,
	},
	{
		name: "gem", distribution: "gem_llm", adapter: "gem_pool", licence: "Apache-2.0",
		fetched: 17, installed: 74, pythonFrom: 10, pythonTo: 12,
	},
	{
		name: "verifiers", distribution: "verifiers", adapter: "verifiers_pool", licence: "MIT",
		fetched: 27, installed: 178, pythonFrom: 11, pythonTo: 13,
	},
}

// Names are the package sets in the order in which they are listed for people.
func Names() []string {
	names := make([]string, len(sets))
	for i, s := range sets {
		names[i] = s.name
	}
	return names
}

func setOf(name string) (set, bool) {
	for _, s := range sets {
		if s.name == name {
			return s, true
		}
	}
	return set{}, false
}

// lock is the list of requirements: name==version lines and nothing that says where they come from. There are no hashes in it,
// for each version of Python and kind of machine has another file: the registry is trusted.
func (s set) lock() (string, error) {
	text, err := locks.ReadFile("locks/" + s.name + ".txt")
	return string(text), err
}

// digest changes with the lock.
func (s set) digest(lock string) string {
	sum := sha256.Sum256([]byte(lock))
	return hex.EncodeToString(sum[:6])
}

// version is that of the distribution in the lock.
func (s set) version(lock string) string {
	for line := range strings.Lines(lock) {
		requirement, _, _ := strings.Cut(strings.TrimSpace(line), ";")
		name, version, found := strings.Cut(strings.TrimSpace(requirement), "==")
		if found && name == s.distribution {
			return version
		}
	}
	return ""
}

// Known fails when there is no package set of that name, and says which there are.
func Known(name string) error {
	if _, known := setOf(name); !known {
		return &specError{fmt.Errorf("%q is none of the package sets %s", name, strings.Join(Names(), ", "))}
	}
	return nil
}
