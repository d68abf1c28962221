package interp

import (
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
)

// jsonModule is how an environment reads and writes data:
//
//	json.encode(value)            canonical JSON, see Canonical
//	json.decode(text)             the value, or an error that ends the episode as env_error
//	json.decode(text, default)    the value, or the default where the text is not strict JSON; for what an agent wrote
func jsonModule() *starlarkstruct.Module {
	return module("json", map[string]builtin{"encode": jsonEncode, "decode": jsonDecode}, nil)
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
