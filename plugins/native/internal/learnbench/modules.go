package learnbench

import (
	"fmt"

	"go.starlark.net/lib/json"
	"go.starlark.net/lib/math"
	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/seed256f7767/spade/internal/seed"
)

const rngLocal = "rng"

func predeclared() starlark.StringDict {
	return starlark.StringDict{"rng": rngModule(), "json": json.Module, "math": math.Module}
}

type rngFunc func(r *seed.Rand, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error)

func rngModule() starlark.Value {
	members := starlark.StringDict{}
	for name, fn := range map[string]rngFunc{
		"random": rngRandom, "randint": rngRandint, "choice": rngChoice, "shuffled": rngShuffled, "sample": rngSample,
	} {
		members[name] = starlark.NewBuiltin("rng."+name, func(th *starlark.Thread, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
			r, ok := th.Local(rngLocal).(*seed.Rand)
			if !ok {
				return nil, fmt.Errorf("%s: outside an episode", b.Name())
			}
			return fn(r, b, args, kw)
		})
	}
	return starlarkstruct.FromStringDict(starlark.String("rng"), members)
}

func rngRandom(r *seed.Rand, _ *starlark.Builtin, _ starlark.Tuple, _ []starlark.Tuple) (starlark.Value, error) {
	return starlark.Float(r.Float64()), nil
}

func rngRandint(r *seed.Rand, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var lo, hi int64
	if err := starlark.UnpackArgs(b.Name(), args, kw, "lo", &lo, "hi", &hi); err != nil {
		return nil, err
	}
	return starlark.MakeInt64(r.RandInt(lo, hi)), nil
}

func elements(b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple, k *int) ([]starlark.Value, error) {
	var seq starlark.Iterable
	var err error
	if k == nil {
		err = starlark.UnpackArgs(b.Name(), args, kw, "items", &seq)
	} else {
		err = starlark.UnpackArgs(b.Name(), args, kw, "items", &seq, "k", k)
	}
	if err != nil {
		return nil, err
	}
	var out []starlark.Value
	for v := range starlark.Elements(seq) {
		out = append(out, v)
	}
	return out, nil
}

func rngChoice(r *seed.Rand, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	items, err := elements(b, args, kw, nil)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, fmt.Errorf("%s: empty", b.Name())
	}
	return items[r.IntN(len(items))], nil
}

func rngShuffled(r *seed.Rand, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	items, err := elements(b, args, kw, nil)
	if err != nil {
		return nil, err
	}
	seed.Shuffle(r, items)
	return starlark.NewList(items), nil
}

func rngSample(r *seed.Rand, b *starlark.Builtin, args starlark.Tuple, kw []starlark.Tuple) (starlark.Value, error) {
	var k int
	items, err := elements(b, args, kw, &k)
	if err != nil {
		return nil, err
	}
	if k < 0 || k > len(items) {
		return nil, fmt.Errorf("%s: k %d of %d", b.Name(), k, len(items))
	}
	return starlark.NewList(append([]starlark.Value(nil), seed.Sample(r, items, k)...)), nil
}
