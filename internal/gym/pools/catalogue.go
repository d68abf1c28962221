package pools

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxEntries bounds a catalogue, whose text comes out of a sandbox.
const maxEntries = 4096

// catalogue is what an adapter says of its package.
type catalogue struct {
	Version string   `json:"version"`
	Adapter int      `json:"adapter"` // its revision
	Entries []listed `json:"entries"`
	Missing []absent `json:"missing"`
}

type listed struct {
	Name    string         `json:"name"`
	Seeds   [2]uint64      `json:"seeds"`
	Options map[string]any `json:"options"`
	// Part says that another entry holds this one too, so that "*" leaves it out.
	Part bool `json:"part"`
}

type absent struct {
	Name   string `json:"name"`
	Reason string `json:"reason"`
}

// decode reads a catalogue and trusts nothing in it: names go into sources and onto the screen.
func decode(text string) (catalogue, error) {
	var c catalogue
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&c); err != nil {
		return catalogue{}, fmt.Errorf("%w: %w", ErrCatalogue, err)
	}
	if len(c.Entries) == 0 || len(c.Entries)+len(c.Missing) > maxEntries {
		return catalogue{}, fmt.Errorf("%w: %d environments", ErrCatalogue, len(c.Entries))
	}
	if !isName(c.Version) {
		return catalogue{}, fmt.Errorf("%w: %q is no version", ErrCatalogue, c.Version)
	}
	if c.Adapter < 1 {
		return catalogue{}, fmt.Errorf("%w: the adapter has no revision", ErrCatalogue)
	}
	seen := map[string]bool{}
	for _, e := range c.Entries {
		switch {
		case !isName(e.Name):
			return catalogue{}, fmt.Errorf("%w: %q is no name of an environment", ErrCatalogue, e.Name)
		case seen[e.Name]:
			return catalogue{}, fmt.Errorf("%w: %s is listed twice", ErrCatalogue, e.Name)
		case e.Seeds[0] > e.Seeds[1]:
			return catalogue{}, fmt.Errorf("%w: %s has no seeds", ErrCatalogue, e.Name)
		}
		seen[e.Name] = true
	}
	for _, m := range c.Missing {
		if !isName(m.Name) {
			return catalogue{}, fmt.Errorf("%w: %q is no name of an environment", ErrCatalogue, m.Name)
		}
	}
	return c, nil
}

// isName keeps to what is plain in a source, a terminal and a file's name.
func isName(s string) bool {
	if s == "" || len(s) > 128 {
		return false
	}
	for i, r := range s {
		alphanumeric := r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
		if !alphanumeric && (i == 0 || !strings.ContainsRune("-_./+@:", r)) {
			return false
		}
	}
	return true
}

var errNoSources = errors.New("no .py or .star file in it")
