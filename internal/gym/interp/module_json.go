package interp

import (
	"fmt"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// jsonModule is how an environment reads and writes data:
//
//	json.encode(value)            canonical JSON, see Canonical
//	json.decode(text)             the value, or an error that ends the episode as env_error
//	json.decode(text, default)    the value, or the default where the text is not strict JSON; for what an agent wrote
//	json.kind(value)              "null", "bool", "int", "float", "text", "list" or "dict"; a tuple is a list
func jsonModule() *starlarkstruct.Module {
	return module("json", map[string]builtin{"encode": jsonEncode, "decode": jsonDecode, "kind": jsonKind}, nil)
}

func jsonEncode(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 1, 1); err != nil {
		return nil, err
	}
	s, err := Canonical(args[0], maxText)
	return starlark.String(s), err
}

func jsonDecode(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 1, 2); err != nil {
		return nil, err
	}
	s, err := argText(args, 0)
	if err != nil {
		return nil, err
	}
	v, err := Decode(s)
	if err != nil && len(args) == 2 {
		return args[1], nil
	}
	return v, err
}

func jsonKind(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 1, 1); err != nil {
		return nil, err
	}
	switch args[0].(type) {
	case starlark.NoneType:
		return starlark.String("null"), nil
	case starlark.Bool:
		return starlark.String("bool"), nil
	case starlark.Int:
		return starlark.String("int"), nil
	case starlark.Float:
		return starlark.String("float"), nil
	case starlark.String:
		return starlark.String("text"), nil
	case *starlark.List, starlark.Tuple:
		return starlark.String("list"), nil
	case *starlark.Dict:
		return starlark.String("dict"), nil
	}
	return nil, fmt.Errorf("%w: a %s", errNotJSON, args[0].Type())
}
