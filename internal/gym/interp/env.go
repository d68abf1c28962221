package interp

import (
	"encoding/json"
	"fmt"

	"go.starlark.net/resolve"
	"go.starlark.net/starlark"
	"go.starlark.net/syntax"

	"github.com/seed256f7767/spade/internal/gym/wire"
	"github.com/seed256f7767/spade/internal/seed"
)

// Filename is the name that positions in error messages carry.
const Filename = "env.star"

// Env is a loaded environment and the episodes that are being played in it. It is not safe for concurrent use.
type Env struct {
	limits   wire.Limits
	meta     wire.Meta
	calls    caller
	episodes map[int]*episode

	reset, step, hint, verify, solve starlark.Callable

	// stream is the generator of the episode whose reset or step runs, nil at any other time.
	stream *seed.Rand

	// scratch is reused for every state and info.
	scratch canonicalizer
	// lastInfo and lastActions are those of the latest call of any episode; the actions are never changed.
	lastInfo    string
	lastActions []string
}

// FileOptions is the dialect of a source: the language of the specification, with while, recursion and control flow at
// the top level, and without sets.
func FileOptions() *syntax.FileOptions {
	return &syntax.FileOptions{While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
}

// Predeclared reports whether name is given to a source by the platform.
func Predeclared(name string) bool {
	switch name {
	case "rng", "text", "json", "math", "len":
		return true
	}
	return false
}

// Load parses and executes a source. What is wrong with the source is in Loaded; then Env is nil.
func Load(code string, limits wire.Limits) (*Env, wire.Loaded) {
	e := &Env{limits: limits, episodes: map[int]*episode{}}
	e.calls.depth = limits.Depth
	given := predeclared(func() *seed.Rand { return e.stream })

	_, program, err := starlark.SourceProgramOptions(FileOptions(), Filename, code, given.Has)
	if err != nil {
		return nil, refused("parse", wire.CauseException, syntaxText(err))
	}
	globals, fault := e.calls.load(program, given, limits.LoadSteps)
	if fault.Outcome != wire.Ongoing {
		return nil, wire.Loaded{Stage: "load", Fault: fault}
	}
	if err := e.bind(globals); err != nil {
		return nil, refused("meta", wire.CauseShape, err.Error())
	}
	return e, wire.Loaded{Meta: e.meta}
}

func refused(stage string, cause wire.Cause, text string) wire.Loaded {
	return wire.Loaded{Stage: stage, Fault: envFault(cause, text)}
}

// syntaxText tells the first of several errors: the others are often its consequence.
func syntaxText(err error) string {
	if list, ok := err.(resolve.ErrorList); ok && len(list) > 0 {
		return list[0].Error()
	}
	return err.Error()
}

// bind finds the functions and META among the globals.
func (e *Env) bind(globals starlark.StringDict) error {
	for _, f := range []struct {
		name     string
		to       *starlark.Callable
		optional bool
	}{
		{"reset", &e.reset, false},
		{"step", &e.step, false},
		{"hint", &e.hint, false},
		{"verify", &e.verify, false},
		{"solve", &e.solve, true},
	} {
		v, ok := globals[f.name]
		if !ok {
			if f.optional {
				continue
			}
			return fmt.Errorf("there is no function %s", f.name)
		}
		fn, ok := v.(starlark.Callable)
		if !ok {
			return fmt.Errorf("%s is a %s, want a function", f.name, v.Type())
		}
		*f.to = fn
	}
	meta, ok := globals["META"]
	if !ok {
		return fmt.Errorf("there is no META")
	}
	dict, ok := meta.(*starlark.Dict)
	if !ok {
		return fmt.Errorf("META is a %s, want a dictionary", meta.Type())
	}
	return e.readMeta(dict)
}

func (e *Env) readMeta(dict *starlark.Dict) error {
	for k := range dict.Entries() {
		switch k {
		case starlark.String("title"), starlark.String("kind"), starlark.String("max_steps"), starlark.String("tools"):
		default:
			return fmt.Errorf("META has an unknown key %s", k)
		}
	}
	title, _ := field(dict, "title").(starlark.String)
	if !wire.IsTitle(string(title)) {
		return fmt.Errorf("META title must be a text of 1 to %d bytes, not blank and without control characters", wire.MaxTitle)
	}
	kind, _ := field(dict, "kind").(starlark.String)
	if !wire.IsKind(string(kind)) {
		return fmt.Errorf("META kind must be reasoning, tools or game")
	}
	steps, ok := field(dict, "max_steps").(starlark.Int)
	n, small := steps.Int64()
	if !ok || !small || n < 1 || n > wire.MaxSteps {
		return fmt.Errorf("META max_steps must be an integer from 1 to %d", wire.MaxSteps)
	}
	if _, err := Canonical(dict, wire.MaxMeta); err != nil {
		return fmt.Errorf("META: %w", err)
	}
	e.meta = wire.Meta{Title: string(title), Kind: string(kind), MaxSteps: int(n), HasSolve: e.solve != nil}
	return e.readTools(field(dict, "tools"))
}

func field(dict *starlark.Dict, name string) starlark.Value {
	v, found, err := dict.Get(starlark.String(name))
	if !found || err != nil {
		return nil
	}
	return v
}

func (e *Env) readTools(v starlark.Value) error {
	if v == nil {
		return nil
	}
	tools, ok := v.(*starlark.List)
	if !ok {
		return fmt.Errorf("META tools must be a list of JSON Schemas")
	}
	for tool := range tools.Elements() {
		if _, ok := tool.(*starlark.Dict); !ok {
			return fmt.Errorf("META tools must be a list of JSON Schemas, not of %s", tool.Type())
		}
		text, err := Canonical(tool, wire.MaxMeta)
		if err != nil {
			return fmt.Errorf("META tools: %w", err)
		}
		e.meta.Tools = append(e.meta.Tools, json.RawMessage(text))
	}
	return nil
}

// Meta returns what the environment says about itself.
func (e *Env) Meta() wire.Meta { return e.meta }
