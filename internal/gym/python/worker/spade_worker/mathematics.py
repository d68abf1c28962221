"""The module math, see module_math.go: only operations whose result is fixed to the last bit everywhere."""

import math as library

from .arguments import Module, need_int, need_int64, need_list, need_number

MAX_BITS = 4096


def absolute(x, /):
    return abs(need_number(x))


def numbers(items):
    if not need_list(items):
        raise ValueError("the list is empty")
    for item in items:
        need_number(item)
    return items


def least(items, /):
    return min(numbers(items))


def most(items, /):
    return max(numbers(items))


def total(items, /):
    out = 0
    for item in need_list(items):  # not sum, which compensates floats since Python 3.12
        out = out + need_number(item)
    return need_number(out)


def floor(x, /):
    return library.floor(need_number(x))


def ceil(x, /):
    return library.ceil(need_number(x))


def trunc(x, /):
    return library.trunc(need_number(x))


def nearest(x, /):
    return round(need_number(x))


def sqrt(x, /):
    return library.sqrt(need_number(x))


def small(n):
    if need_int(n).bit_length() > MAX_BITS:
        raise ValueError("an integer of more than %d bits" % MAX_BITS)
    return n


def isqrt(n, /):
    return library.isqrt(small(n))


def gcd(a, b, /):
    return library.gcd(small(a), small(b))


def power(base, n, /):
    bits = need_int(base).bit_length()
    if need_int64(n) < 0:
        raise ValueError("the exponent must be 0 or more")
    if bits > 1 and n > MAX_BITS // (bits - 1):
        raise ValueError("a result of more than %d bits" % MAX_BITS)
    return base**n


def div(a, b, /):
    return need_int(a) // need_int(b)


def mod(a, b, /):
    return need_int(a) % need_int(b)


def clamp(x, lo, hi, /):
    need_number(x), need_number(lo), need_number(hi)
    if x < lo:
        return lo
    return hi if hi < x else x


def to_float(x, /):
    return float(need_number(x))


math = Module(
    {
        "abs": absolute,
        "min": least,
        "max": most,
        "sum": total,
        "floor": floor,
        "ceil": ceil,
        "trunc": trunc,
        "round": nearest,
        "sqrt": sqrt,
        "isqrt": isqrt,
        "gcd": gcd,
        "pow": power,
        "div": div,
        "mod": mod,
        "clamp": clamp,
        "float": to_float,
        "pi": library.pi,
    }
)
