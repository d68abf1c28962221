package interp

import (
	"errors"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"

	"github.com/seed256f7767/spade/internal/seed"
)

var errNoStream = errors.New("no randomness here: rng may be used in reset and step only")

// rngModule is the generator of the episode, PCG64 seeded by SHA-256 of its seed:
//
//	rng.random()          a float in [0, 1) with 53 random bits
//	rng.randint(lo, hi)   an integer, both ends included, by rejection; 64-bit bounds
//	rng.choice(list)      one element
//	rng.shuffled(list)    a new list in random order
//	rng.sample(list, k)   k elements in random order, each at most once
//
// What each of them draws is in package seed; schemas/vectors/rng.json has the values.
func rngModule(stream func() *seed.Rand) *starlarkstruct.Module {
	bind := func(body func(*seed.Rand, starlark.Tuple) (starlark.Value, error)) builtin {
		return func(args starlark.Tuple) (starlark.Value, error) {
			r := stream()
			if r == nil {
				return nil, errNoStream
			}
			return body(r, args)
		}
	}
	return module("rng", map[string]builtin{
		"random":   bind(rngRandom),
		"randint":  bind(rngRandint),
		"choice":   bind(rngChoice),
		"shuffled": bind(rngShuffled),
		"sample":   bind(rngSample),
	}, nil)
}

func rngRandom(r *seed.Rand, args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 0, 0); err != nil {
		return nil, err
	}
	return starlark.Float(r.Float64()), nil
}

func rngRandint(r *seed.Rand, args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 2, 2); err != nil {
		return nil, err
	}
	lo, err := argInt(args, 0)
	if err != nil {
		return nil, err
	}
	hi, err := argInt(args, 1)
	if err != nil {
		return nil, err
	}
	if lo > hi {
		return nil, errors.New("the lower bound is above the upper one")
	}
	return starlark.MakeInt64(r.RandInt(lo, hi)), nil
}

func rngChoice(r *seed.Rand, args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 1, 1); err != nil {
		return nil, err
	}
	items, err := argList(args, 0)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, errors.New("nothing to choose from")
	}
	return items[r.IntN(len(items))], nil
}

func rngShuffled(r *seed.Rand, args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 1, 1); err != nil {
		return nil, err
	}
	items, err := argList(args, 0)
	if err != nil {
		return nil, err
	}
	items = append([]starlark.Value(nil), items...)
	seed.Shuffle(r, items)
	return starlark.NewList(items), nil
}

func rngSample(r *seed.Rand, args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 2, 2); err != nil {
		return nil, err
	}
	items, err := argList(args, 0)
	if err != nil {
		return nil, err
	}
	k, err := argInt(args, 1)
	if err != nil {
		return nil, err
	}
	if k < 0 || k > int64(len(items)) {
		return nil, errors.New("more elements wanted than there are")
	}
	items = append([]starlark.Value(nil), items...)
	return starlark.NewList(seed.Sample(r, items, int(k))), nil
}
