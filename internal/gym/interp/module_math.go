package interp

import (
	"errors"
	"fmt"
	"math"
	"math/big"

	"go.starlark.net/starlark"
	"go.starlark.net/starlarkstruct"
	"go.starlark.net/syntax"
)

// mathModule has only operations whose result is fixed to the last bit everywhere; sine, logarithm and their kin are not
// among them, because their last digit depends on the library. A number is an int or a finite float, never a bool.
//
//	math.abs(x)  math.min(list)  math.max(list)      of equal elements the first
//	math.sum(list)          from left to right, starting with the integer 0
//	math.floor(x)  math.ceil(x)  math.trunc(x)       integers
//	math.round(x)           to the nearest integer, halves to the even one
//	math.sqrt(x)            the correctly rounded float; x must not be negative
//	math.isqrt(n)           the integer part of the root of an integer
//	math.gcd(a, b)          of two integers, never negative
//	math.pow(base, n)       of integers, n ≥ 0; at most 4096 bits
//	math.div(a, b)  math.mod(a, b)   of integers, rounding down
//	math.clamp(x, lo, hi)
//	math.float(x)           the nearest float
//	math.pi
func mathModule() *starlarkstruct.Module {
	return module("math", map[string]builtin{
		"abs": mathAbs, "min": mathMin, "max": mathMax, "sum": mathSum,
		"floor": rounding(math.Floor), "ceil": rounding(math.Ceil), "trunc": rounding(math.Trunc),
		"round": rounding(math.RoundToEven),
		"sqrt":  mathSqrt, "isqrt": mathIsqrt, "gcd": mathGcd, "pow": mathPow,
		"div": mathDiv, "mod": mathMod, "clamp": mathClamp, "float": mathFloat,
	}, starlark.StringDict{"pi": starlark.Float(math.Pi)})
}

var errFinite = errors.New("the number is not finite")

// number accepts an int or a finite float.
func number(v starlark.Value) (starlark.Value, error) {
	switch v := v.(type) {
	case starlark.Int:
		return v, nil
	case starlark.Float:
		if math.IsNaN(float64(v)) || math.IsInf(float64(v), 0) {
			return nil, errFinite
		}
		return v, nil
	}
	return nil, fmt.Errorf("a %s is no number", v.Type())
}

func numbers(args starlark.Tuple, n int) error {
	if err := arity(args, n, n); err != nil {
		return err
	}
	for _, a := range args {
		if _, err := number(a); err != nil {
			return err
		}
	}
	return nil
}

func integers(args starlark.Tuple, n int) ([]starlark.Int, error) {
	if err := arity(args, n, n); err != nil {
		return nil, err
	}
	ints := make([]starlark.Int, n)
	for i, a := range args {
		v, ok := a.(starlark.Int)
		if !ok {
			return nil, fmt.Errorf("argument %d is a %s, want an int", i+1, a.Type())
		}
		ints[i] = v
	}
	return ints, nil
}

func less(a, b starlark.Value) (bool, error) { return starlark.Compare(syntax.LT, a, b) }

func toFloat(v starlark.Value) (float64, error) {
	f, ok := starlark.AsFloat(v)
	if !ok || math.IsInf(f, 0) {
		return 0, errFinite
	}
	return f, nil
}

func mathAbs(args starlark.Tuple) (starlark.Value, error) {
	if err := numbers(args, 1); err != nil {
		return nil, err
	}
	if f, ok := args[0].(starlark.Float); ok {
		return starlark.Float(math.Abs(float64(f))), nil
	}
	i := args[0].(starlark.Int)
	if i.Sign() < 0 {
		return starlark.MakeInt(0).Sub(i), nil
	}
	return i, nil
}

func mathMin(args starlark.Tuple) (starlark.Value, error) { return extreme(args, less) }

func mathMax(args starlark.Tuple) (starlark.Value, error) {
	return extreme(args, func(a, b starlark.Value) (bool, error) { return less(b, a) })
}

func extreme(args starlark.Tuple, before func(a, b starlark.Value) (bool, error)) (starlark.Value, error) {
	if err := arity(args, 1, 1); err != nil {
		return nil, err
	}
	items, err := argList(args, 0)
	if err != nil {
		return nil, err
	}
	if len(items) == 0 {
		return nil, errors.New("the list is empty")
	}
	var best starlark.Value
	for _, item := range items {
		if _, err := number(item); err != nil {
			return nil, err
		}
		if best == nil {
			best = item
			continue
		}
		first, err := before(item, best)
		if err != nil {
			return nil, err
		}
		if first {
			best = item
		}
	}
	return best, nil
}

func mathSum(args starlark.Tuple) (starlark.Value, error) {
	if err := arity(args, 1, 1); err != nil {
		return nil, err
	}
	items, err := argList(args, 0)
	if err != nil {
		return nil, err
	}
	var total starlark.Value = starlark.MakeInt(0)
	for _, item := range items {
		if _, err := number(item); err != nil {
			return nil, err
		}
		if total, err = starlark.Binary(syntax.PLUS, total, item); err != nil {
			return nil, err
		}
	}
	return number(total)
}

func rounding(f func(float64) float64) builtin {
	return func(args starlark.Tuple) (starlark.Value, error) {
		if err := numbers(args, 1); err != nil {
			return nil, err
		}
		x, ok := args[0].(starlark.Float)
		if !ok {
			return args[0], nil
		}
		return starlark.NumberToInt(starlark.Float(f(float64(x))))
	}
}

func mathSqrt(args starlark.Tuple) (starlark.Value, error) {
	if err := numbers(args, 1); err != nil {
		return nil, err
	}
	f, err := toFloat(args[0])
	if err != nil {
		return nil, err
	}
	if f < 0 {
		return nil, errors.New("the number is negative")
	}
	return starlark.Float(math.Sqrt(f)), nil
}

func mathIsqrt(args starlark.Tuple) (starlark.Value, error) {
	n, err := integers(args, 1)
	if err != nil {
		return nil, err
	}
	if n[0].Sign() < 0 {
		return nil, errors.New("the number is negative")
	}
	if n[0].BigInt().BitLen() > maxBits {
		return nil, errTooLarge
	}
	return starlark.MakeBigInt(new(big.Int).Sqrt(n[0].BigInt())), nil
}

func mathGcd(args starlark.Tuple) (starlark.Value, error) {
	n, err := integers(args, 2)
	if err != nil {
		return nil, err
	}
	a, b := new(big.Int).Abs(n[0].BigInt()), new(big.Int).Abs(n[1].BigInt())
	if a.BitLen() > maxBits || b.BitLen() > maxBits {
		return nil, errTooLarge
	}
	return starlark.MakeBigInt(new(big.Int).GCD(nil, nil, a, b)), nil
}

// maxBits bounds the integers of the functions whose cost grows faster than their argument.
const maxBits = 4096

func mathPow(args starlark.Tuple) (starlark.Value, error) {
	n, err := integers(args, 2)
	if err != nil {
		return nil, err
	}
	exp, ok := n[1].Int64()
	if !ok || exp < 0 {
		return nil, errors.New("the exponent must be 0 or more")
	}
	base := n[0].BigInt()
	if bits := int64(base.BitLen()); bits > 1 && exp > maxBits/(bits-1) {
		return nil, errTooLarge
	}
	return starlark.MakeBigInt(new(big.Int).Exp(base, big.NewInt(exp), nil)), nil
}

func mathDiv(args starlark.Tuple) (starlark.Value, error) {
	n, err := integers(args, 2)
	if err != nil {
		return nil, err
	}
	return starlark.Binary(syntax.SLASHSLASH, n[0], n[1])
}

func mathMod(args starlark.Tuple) (starlark.Value, error) {
	n, err := integers(args, 2)
	if err != nil {
		return nil, err
	}
	return starlark.Binary(syntax.PERCENT, n[0], n[1])
}

func mathClamp(args starlark.Tuple) (starlark.Value, error) {
	if err := numbers(args, 3); err != nil {
		return nil, err
	}
	for i, bound := range []starlark.Value{args[1], args[2]} {
		outside, err := less(args[0], bound)
		if i == 1 {
			outside, err = less(bound, args[0])
		}
		if err != nil {
			return nil, err
		}
		if outside {
			return bound, nil
		}
	}
	return args[0], nil
}

func mathFloat(args starlark.Tuple) (starlark.Value, error) {
	if err := numbers(args, 1); err != nil {
		return nil, err
	}
	f, err := toFloat(args[0])
	return starlark.Float(f), err
}
