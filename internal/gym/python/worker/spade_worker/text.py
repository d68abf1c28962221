"""The module text, see module_text.go: the same functions with the same results."""

from .arguments import Module, bounded, need_int64, need_list, need_number, need_part, need_text, size, too_large
from .canonical import MAX_DIGITS, MAX_TEXT, canonical, scan_strict

WHITE_SPACE = " \t\n\v\f\r"
TO_SPACE = {ord(c): " " for c in WHITE_SPACE}
TO_LOWER = {c: c ^ 0x20 for c in range(ord("A"), ord("Z") + 1)}
TO_UPPER = {c: c ^ 0x20 for c in range(ord("a"), ord("z") + 1)}


def length(s, /):
    return len(need_text(s))


def chars(s, /):
    return list(need_text(s))


def part(s, start, end=None, /):
    need_text(s)
    need_int64(start)
    if end is not None:
        need_int64(end)
    return s[start:end]


def find(s, what, /):
    return need_text(s).find(need_part(what))


def contains(s, what, /):
    return need_part(what) in need_text(s)


def starts_with(s, what, /):
    return need_text(s).startswith(need_part(what))


def ends_with(s, what, /):
    return need_text(s).endswith(need_part(what))


def count(s, what, /):
    return need_text(s).count(need_part(what))


def replace(s, old, new, /):
    need_text(s), need_part(old), need_text(new)
    if size(s) + s.count(old) * (size(new) - size(old)) > MAX_TEXT:
        raise too_large()
    return s.replace(old, new)


def split(s, separator, /):
    return need_text(s).split(need_part(separator))


def words(s, /):
    return [w for w in need_text(s).translate(TO_SPACE).split(" ") if w]


def lines(s, /):
    if need_text(s) == "":
        return []
    return (s[:-1] if s.endswith("\n") else s).split("\n")


def join(separator, items, /):
    total = size(need_text(separator)) * len(need_list(items))
    for item in items:
        total += size(need_text(item))
    if total > MAX_TEXT:
        raise too_large()
    return separator.join(items)


def strip(s, /):
    return need_text(s).strip(WHITE_SPACE)


def lower(s, /):
    return need_text(s).lower() if s.isascii() else s.translate(TO_LOWER)


def upper(s, /):
    return need_text(s).upper() if s.isascii() else s.translate(TO_UPPER)


def normalize(s, /):
    return " ".join(words(lower(s)))


def reverse(s, /):
    return need_text(s)[::-1]


def repeat(s, n, /):
    need_text(s), need_int64(n)
    if n <= 0 or s == "":
        return ""
    if n > MAX_TEXT // size(s):
        raise too_large()
    return s * n


def padding(s, width, fill):
    need_text(s), need_int64(width)
    if len(need_text(fill)) != 1:
        raise ValueError("the fill must be one character")
    lacking = width - len(s)
    if lacking > MAX_TEXT // size(fill):
        raise too_large()
    return fill * max(lacking, 0)


def pad_left(s, width, fill=" ", /):
    return bounded(padding(s, width, fill) + s)


def pad_right(s, width, fill=" ", /):
    return bounded(s + padding(s, width, fill))


def to_text(value, /):
    return value if isinstance(value, str) else canonical(value)[0]


def form(template, /, *values):
    need_text(template)
    out, place, at, total = [], 0, 0, 0
    while True:
        marks = [i for i in (template.find("{", at), template.find("}", at)) if i >= 0]
        if not marks:
            out.append(template[at:])
            break
        brace = min(marks)
        out.append(template[at:brace])
        mark = template[brace : brace + 2]
        at = brace + 2
        if mark == "{}":
            if place == len(values):
                raise ValueError("more places than values")
            out.append(to_text(values[place]))
            place += 1
        elif mark in ("{{", "}}"):
            out.append(mark[0])
        else:
            raise ValueError("a brace that is neither {} nor doubled")
        total += size(out[-1]) + size(out[-2])
        if total > MAX_TEXT:
            raise too_large()
    if place < len(values):
        raise ValueError("more values than places")
    return bounded("".join(out))


def fixed(x, decimals, /):
    x = float(need_number(x))
    if not 0 <= need_int64(decimals) <= 17:
        raise ValueError("the number of decimals must be between 0 and 17")
    return "%.*f" % (decimals, x)


def to_int(s, /):
    digits = need_text(s)[1:] if s.startswith("-") else s
    if not digits or len(digits) > MAX_DIGITS or not (digits.isascii() and digits.isdigit()):
        return None
    return int(s)


def to_float(s, /):
    if need_text(s)[:1] not in tuple("-0123456789"):
        return None
    try:
        value, end = scan_strict(s, 0)
        return float(value) if end == len(s) else None
    except (ValueError, OverflowError, StopIteration, SystemError):
        return None


def to_ord(c, /):
    if len(need_text(c)) != 1:
        raise ValueError("want one character")
    return ord(c)


def to_chr(n, /):
    if not 0 <= need_int64(n) <= 0x10FFFF or 0xD800 <= n <= 0xDFFF:
        raise ValueError("no such code point")
    return chr(n)


text = Module(
    {
        "len": length,
        "chars": chars,
        "slice": part,
        "find": find,
        "contains": contains,
        "starts_with": starts_with,
        "ends_with": ends_with,
        "count": count,
        "replace": replace,
        "split": split,
        "words": words,
        "lines": lines,
        "join": join,
        "strip": strip,
        "lower": lower,
        "upper": upper,
        "reverse": reverse,
        "repeat": repeat,
        "normalize": normalize,
        "pad_left": pad_left,
        "pad_right": pad_right,
        "str": to_text,
        "format": form,
        "fixed": fixed,
        "int": to_int,
        "float": to_float,
        "ord": to_ord,
        "chr": to_chr,
    }
)
