package interp

import (
	"fmt"
	"unicode/utf8"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/seed256f7767/spade/internal/seed"
)

// maxText bounds every text that a module function makes.
const maxText = 1 << 20

// builtin is a module function after its arguments were checked for names: none takes keywords except where it says so.
type builtin func(args starlark.Tuple) (starlark.Value, error)

// module builds a predeclared module. Functions take positional arguments only, so that they mean the same everywhere.
func module(name string, members map[string]builtin, constants starlark.StringDict) *starlarkstruct.Module {
	m := &starlarkstruct.Module{Name: name, Members: starlark.StringDict{}}
	for fn, body := range members {
		m.Members[fn] = function(name+"."+fn, body)
	}
	for c, v := range constants {
		m.Members[c] = v
	}
	m.Freeze()
	return m
}

func function(name string, body builtin) *starlark.Builtin {
	return starlark.NewBuiltin(name,
		func(_ *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kwargs []starlark.Tuple) (starlark.Value, error) {
			if len(kwargs) > 0 {
				return nil, fmt.Errorf("%s takes no keyword arguments", b.Name())
			}
			v, err := body(args)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", b.Name(), err)
			}
			return v, nil
		})
}

// predeclared is everything that a source finds beyond the language itself. Stream returns the generator of the episode
// that is being played, or nil where none may be used.
func predeclared(stream func() *seed.Rand) starlark.StringDict {
	return starlark.StringDict{
		"rng":  rngModule(stream),
		"text": textModule(),
		"json": jsonModule(),
		"math": mathModule(),
		"len":  function("len", codePointLen),
	}
}

// Modules lists the predeclared modules and, sorted, what each of them offers.
func Modules() map[string][]string {
	out := map[string][]string{}
	for name, v := range predeclared(func() *seed.Rand { return nil }) {
		if m, ok := v.(*starlarkstruct.Module); ok {
			out[name] = m.Members.Keys()
		}
	}
	return out
}

// codePointLen is len with texts counted in code points, as Python does, and not in bytes.
func codePointLen(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 1, 1); err != nil {
		return nil, err
	}
	if s, ok := args[0].(starlark.String); ok {
		return starlark.MakeInt(utf8.RuneCountInString(string(s))), nil
	}
	n := starlark.Len(args[0])
	if n < 0 {
		return nil, fmt.Errorf("a %s has no length", args[0].Type())
	}
	return starlark.MakeInt(n), nil
}

func arity(args starlark.Tuple, least, most int) error {
	if len(args) < least || len(args) > most {
		if least == most {
			return fmt.Errorf("got %d arguments, want %d", len(args), least)
		}
		return fmt.Errorf("got %d arguments, want %d to %d", len(args), least, most)
	}
	return nil
}

func argText(args starlark.Tuple, i int) (string, error) {
	s, ok := args[i].(starlark.String)
	if !ok {
		return "", fmt.Errorf("argument %d is a %s, want a string", i+1, args[i].Type())
	}
	return string(s), nil
}

func argTexts(args starlark.Tuple, n int) ([]string, error) {
	texts := make([]string, n)
	for i := range n {
		s, err := argText(args, i)
		if err != nil {
			return nil, err
		}
		texts[i] = s
	}
	return texts, nil
}

func argInt(args starlark.Tuple, i int) (int64, error) {
	v, ok := args[i].(starlark.Int)
	if !ok {
		return 0, fmt.Errorf("argument %d is a %s, want an int", i+1, args[i].Type())
	}
	n, ok := v.Int64()
	if !ok {
		return 0, fmt.Errorf("argument %d is out of range", i+1)
	}
	return n, nil
}

// argList returns the elements of a list or tuple; other iterables differ between languages.
func argList(args starlark.Tuple, i int) ([]starlark.Value, error) {
	switch v := args[i].(type) {
	case starlark.Tuple:
		return v, nil
	case *starlark.List:
		items := make([]starlark.Value, v.Len())
		for j := range items {
			items[j] = v.Index(j)
		}
		return items, nil
	}
	return nil, fmt.Errorf("argument %d is a %s, want a list", i+1, args[i].Type())
}

func list[T any](items []T, wrap func(T) starlark.Value) starlark.Value {
	values := make([]starlark.Value, len(items))
	for i, item := range items {
		values[i] = wrap(item)
	}
	return starlark.NewList(values)
}

func textValue(s string) starlark.Value { return starlark.String(s) }

// boundedText refuses what would be larger than any text that may leave the environment.
func boundedText(s string) (starlark.Value, error) {
	if len(s) > maxText {
		return nil, fmt.Errorf("result %w of %d bytes", errTooLarge, maxText)
	}
	return starlark.String(s), nil
}
