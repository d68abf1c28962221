package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// DefaultFile is read when no file is named and it is there.
const DefaultFile = "spade.yaml"

// Sources is where settings come from, weakest last.
type Sources struct {
	Flags   map[string]string // text by key, only the flags that were given
	Environ []string          // as os.Environ gives it
	File    string            // path of the YAML file; empty = SPADE_CONFIG, else DefaultFile where it exists
}

// Origin names the layer a value came from: "default", "spade.yaml:3", "SPADE_RUN_SEED", "--seed".
type Origin string

// OriginDefault is the origin of values that nothing set.
const OriginDefault Origin = "default"

// Loaded is a configuration with the origin of each value.
type Loaded struct {
	Config
	origins map[string]Origin
}

// Origin says where a key's value came from.
func (l Loaded) Origin(key string) Origin {
	if o, ok := l.origins[key]; ok {
		return o
	}
	return OriginDefault
}

// variables that begin like a setting and are none: SPADE_CONFIG names the file, the test suite has its own prefix.
const (
	envFile       = "SPADE_CONFIG"
	envTestPrefix = "SPADE_TEST_"
)

// Load lays the sources over the defaults and validates the result. The error joins everything that is wrong.
func Load(src Sources) (Loaded, error) {
	known := map[string]Field{}
	for _, f := range Fields() {
		known[f.Key] = f
	}
	env, problems := readEnviron(src.Environ, known)
	path, asked := src.File, src.File != ""
	if path == "" {
		path, asked = env[envFile].text, env[envFile].text != ""
	}
	if path == "" {
		path = DefaultFile
	}
	delete(env, envFile)
	file, more := readFile(path, asked, known)
	problems = append(problems, more...)

	l := Loaded{Config: NewDefaultConfig(), origins: map[string]Origin{}}
	for _, layer := range []map[string]entry{file, env, flagEntries(src.Flags, known)} {
		problems = append(problems, l.apply(layer, known)...)
	}
	problems = append(problems, l.liftUserinfo()...)
	if len(problems) > 0 {
		return l, errors.Join(problems...)
	}
	return l, l.Validate()
}

// apply sets the layer's entries, in the order of their keys so that errors are.
func (l *Loaded) apply(layer map[string]entry, known map[string]Field) []error {
	var problems []error
	for _, key := range slices.Sorted(maps.Keys(layer)) {
		e := layer[key]
		if err := known[key].set(&l.Config, e.text); err != nil {
			what := err.Error()
			if known[key].Secret {
				what = "cannot be read"
			}
			problems = append(problems, &Problem{Where: e.where, Key: e.key, What: what, class: ErrInvalid})
			continue
		}
		l.origins[key] = Origin(e.where)
	}
	return problems
}

// readEnviron picks the settings out of the environment. An empty variable counts as not set.
func readEnviron(environ []string, known map[string]Field) (map[string]entry, []error) {
	keyOf := map[string]string{envFile: envFile}
	for key, f := range known {
		keyOf[f.Env] = key
	}
	found := map[string]entry{}
	var problems []error
	for _, pair := range slices.Sorted(slices.Values(environ)) {
		name, text, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, EnvPrefix) || strings.HasPrefix(name, envTestPrefix) || text == "" {
			continue
		}
		key, ok := keyOf[name]
		if !ok {
			problems = append(problems, unknown(name, name, slices.Collect(maps.Keys(keyOf))))
			continue
		}
		found[key] = entry{text: text, where: name, key: name}
	}
	return found, problems
}

func flagEntries(flags map[string]string, known map[string]Field) map[string]entry {
	found := map[string]entry{}
	for key, text := range flags {
		flag := "--" + known[key].Flag
		found[key] = entry{text: text, where: flag, key: flag}
	}
	return found
}

func keysOf(known map[string]Field) []string { return slices.Collect(maps.Keys(known)) }

// unknown is the problem of a name that is no setting. names is sorted so that equally near ones do not alternate.
func unknown(where, name string, names []string) *Problem {
	slices.Sort(names)
	what := "is not a setting; `spade config print` lists them"
	if n := nearest(name, names); n != "" {
		what = fmt.Sprintf("is not a setting; did you mean %s?", n)
	}
	return &Problem{Where: where, Key: name, What: what, class: ErrUnknownKey}
}
