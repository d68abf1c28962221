"""Canonical JSON, see canonical.go: sorted keys, no spaces, UTF-8, floats as repr writes them, tuples as lists.

Values of the usual shape go through the C accelerator of the standard library; what it is too lax about (keys that are no
texts, depth, long integers, tuples) is found by comparing the copy it reads back, and then the exact path decides.
"""

from _json import encode_basestring as quote
from _json import make_encoder, make_scanner

from .faults import ENCODING, LIMIT, SHAPE, Malformed, kind

MAX_DEPTH = 64
MAX_DIGITS = 1000
MAX_TEXT = 1 << 20
UNBOUNDED = (1 << 31) - 1

# Below this length a text can hold neither an integer of too many digits nor too many open brackets with their pairs.
SHORT = 2 * MAX_DEPTH


def refuse(value):
    raise TypeError


dump = make_encoder(None, refuse, quote, None, ":", ",", True, False, False)


class Reading:
    """What the scanner wants to know. These are the settings of the fast path, which reads only what was just written."""

    strict = True
    object_hook = None
    object_pairs_hook = None
    memo = {}
    parse_float = float
    parse_int = int
    parse_constant = refuse

    def __init__(self, **hooks):
        self.__dict__.update(hooks)


def bounded_int(text):
    """What the scanner calls for an integer of a foreign text."""
    if len(text) > MAX_DIGITS and len(text.lstrip("-")) > MAX_DIGITS:
        raise ValueError
    return int(text)


scan = make_scanner(Reading())

DIGITS = bytes(0x30 if 0x30 <= b <= 0x39 else 0x20 for b in range(256))
TOO_MANY_DIGITS = b"0" * (MAX_DIGITS + 1)
NO_STRUCTURE = bytes(b for b in range(256) if b not in b'[]{}"\\')


def doubtful(data, copy):
    """Whether a long text that was read back as copy may hold too long an integer, or holds too deep a value."""
    if len(data) > MAX_DIGITS and TOO_MANY_DIGITS in data.translate(DIGITS):
        return True
    if type(copy) is not dict and type(copy) is not list:
        return False
    # What is left is the brackets, and the texts that have brackets, quotes or backslashes in them.
    brackets = data.translate(None, NO_STRUCTURE).replace(b'""', b"")
    if len(brackets) <= 2 * MAX_DEPTH:
        return False
    for _ in range(MAX_DEPTH // 2):  # each turn takes one or two levels away
        brackets = brackets.replace(b"[]", b"").replace(b"{}", b"")
        if not brackets:
            return False
    return deep(copy)


def deep(container, depth=0):
    """Whether something lies deeper than allowed in a list or dictionary that lies at depth."""
    if depth >= MAX_DEPTH:
        return depth > MAX_DEPTH or len(container) > 0
    for item in container.values() if type(container) is dict else container:
        if (type(item) is dict or type(item) is list) and deep(item, depth + 1):
            return True
    return False


def fast(value):
    """The text of a value, its bytes and its copy, or None where the exact path must decide."""
    try:
        text = "".join(dump(value, 0))
        copy = scan(text, 0)[0]
        if copy == value:
            data = text.encode()
            if len(text) < SHORT or not doubtful(data, copy):
                return text, data, copy
    except (TypeError, ValueError, OverflowError, RecursionError, StopIteration):
        pass
    return None


def canonical(value, limit=MAX_TEXT, reserved=0):
    """The canonical text of a value, its bytes and its copy. Reserved are bytes of the limit that are taken already."""
    found = fast(value)
    if found is None:
        exact = Exact(limit, reserved)
        copy = exact.value(value, 0)
        text = "".join(exact.parts)
        found = text, text.encode(), copy
    if len(found[1]) + reserved > limit:
        raise too_large(limit)
    return found


def too_large(limit):
    return Malformed(LIMIT, "over the size limit of %d bytes" % limit)


def not_json(text):
    return Malformed(SHAPE, "not a JSON value: " + text)


class Exact:
    """The exact path, in the order of canonical.go, so that of several faults the same one is found."""

    def __init__(self, limit, reserved=0):
        self.limit = limit
        self.size = reserved
        self.parts = []

    def put(self, text):
        self.parts.append(text)
        self.size += len(text)

    def value(self, v, depth):
        if depth > MAX_DEPTH:
            raise not_json("nested deeper than %d" % MAX_DEPTH)
        if self.size > self.limit:
            raise too_large(self.limit)
        if v is None:
            self.put("null")
        elif v is True:
            self.put("true")
        elif v is False:
            self.put("false")
        elif isinstance(v, int):
            v = int.__int__(v)
            self.put(digits(v))
        elif isinstance(v, float):
            v = float.__float__(v)
            if v != v or v in (float("inf"), float("-inf")):
                raise not_json("the number %r" % v)
            self.put(repr(v))
        elif isinstance(v, str):
            v = self.text(v)
        elif isinstance(v, (list, tuple)):
            return self.list(v, depth)
        elif isinstance(v, dict):
            return self.dict(v, depth)
        else:
            raise not_json("a " + kind(v))
        return v

    def text(self, s):
        s = str.__str__(s)
        try:
            size = len(s.encode())
        except UnicodeEncodeError:
            raise Malformed(ENCODING, "text that is not UTF-8") from None
        if self.size + size > self.limit:
            raise too_large(self.limit)
        quoted = quote(s)
        self.parts.append(quoted)
        self.size += size + len(quoted) - len(s)
        return s

    def list(self, items, depth):
        self.put("[")
        out = []
        for i, item in enumerate(items):
            if i:
                self.put(",")
            out.append(self.value(item, depth + 1))
        self.put("]")
        return out

    def dict(self, v, depth):
        for key in v:
            if not isinstance(key, str):
                raise not_json("a dictionary key of type " + kind(key))
        self.put("{")
        out = {}
        for i, (key, item) in enumerate(sorted(v.items(), key=first)):
            if i:
                self.put(",")
            key = self.text(key)
            self.put(":")
            out[key] = self.value(item, depth + 1)
        self.put("}")
        return out


def first(item):
    return str.__str__(item[0])


def digits(n):
    if n.bit_length() <= MAX_DIGITS * 4:
        text = int.__repr__(n)
        if len(text) <= MAX_DIGITS + (n < 0):
            return text
    raise not_json("an integer of more than %d digits" % MAX_DIGITS)


def strict_float(text):
    value = float(text)
    if value in (float("inf"), float("-inf")):
        raise ValueError("a number out of range")
    return value


def strict_constant(text):
    raise ValueError("no value")


scan_strict = make_scanner(Reading(parse_int=bounded_int, parse_float=strict_float, parse_constant=strict_constant))
SPACE = " \t\n\r"


def decode(text):
    """Reads strict JSON; ValueError says why it is none."""
    text.encode()  # raises UnicodeEncodeError, a ValueError
    start = 0
    while start < len(text) and text[start] in SPACE:
        start += 1
    try:
        value, end = scan_strict(text, start)
    except (StopIteration, SystemError):  # the scanner of Python 3.11 fails to load its own exception
        raise ValueError("no value") from None
    except RecursionError:
        raise ValueError("nested deeper than %d" % MAX_DEPTH) from None
    if text[end:].strip(SPACE):
        raise ValueError("text after the value")
    if len(text) >= SHORT or "\\u" in text:
        check(value, 0)
    return value


def check(value, depth):
    if depth > MAX_DEPTH:
        raise ValueError("nested deeper than %d" % MAX_DEPTH)
    if type(value) is str:
        value.encode()  # an escaped lone surrogate
    elif type(value) is list:
        for item in value:
            check(item, depth + 1)
    elif type(value) is dict:
        for key, item in value.items():
            key.encode()
            check(item, depth + 1)
