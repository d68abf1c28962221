"""Reference implementation of canonical JSON, and the source of canonical.json.

    python3 schemas/vectors/canonical.py > schemas/vectors/canonical.json

Each vector is a JSON text and what it becomes when it is read and written again canonically, or null where it must be
refused. The rules are those of Python's json, with what it is lax about refused: NaN and Infinity, lone surrogates,
floats out of range, integers of more than 1000 digits, nesting deeper than 64.
"""

import json
import random
import struct

MAX_DEPTH = 64
MAX_DIGITS = 1000


def refuse(name):
    raise ValueError(name)


def parse_float(text):
    value = float(text)
    if value in (float("inf"), float("-inf")):
        refuse(text)
    return value


def parse_int(text):
    return int(text) if len(text.lstrip("-")) <= MAX_DIGITS else refuse(text)


def check(value, depth=0):
    if depth > MAX_DEPTH:
        refuse("too deep")
    if isinstance(value, str):
        value.encode("utf-8")
    elif isinstance(value, list):
        for item in value:
            check(item, depth + 1)
    elif isinstance(value, dict):
        for key, item in value.items():
            check(key)
            check(item, depth + 1)


def canonical(text):
    try:
        value = json.loads(text, parse_constant=refuse, parse_float=parse_float, parse_int=parse_int)
        check(value)
    except (ValueError, RecursionError):
        return None
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def texts():
    yield from ["null", "true", " [ 1 , 2 ] ", "{}", "[]", '""', "0", "-0", "-0.0", "1.0", "1e2", "1E+2", "0.1", "1e-5"]
    yield from ["0.0001", "0.00001", "1e15", "1e16", "123456789012345678", "12345678901234567890123", "-9223372036854775809"]
    yield from ["9007199254740993.0", "1e22", "1e23", "5e-324", "1e-400", "1.7976931348623157e308", "1e309", "-1e309", "100000000000000000.0"]
    yield from ['{"b":1,"a":2}', '{"a":1,"b":2,"a":3}', '{"é":1,"z":2,"\\ud83d\\ude00":3,"\\uffff":4}', '{"":0," ":1}']
    yield from ['"\\u0000\\u001f\\u007f\\u0080\\u2028"', '"\\b\\f\\n\\r\\t\\"\\\\\\/"', '"é中😀"', '"\\ud83d\\ude00"', '"\\u00e9"']
    yield from ["NaN", "Infinity", "-Infinity", "[NaN]", '"\\ud800"', '"\\udc00\\ud800"', '"\\ud800x"', '{"\\ud800":1}']
    yield from ["", " ", "nul", "tru", "[1,]", "[,1]", "{,}", '{"a"}', '{"a":}', '{"a":1,}', "{a:1}", "'a'", "01", "1.", ".5", "+1", "--1", "1e", "1e+"]
    yield from ["[1 2]", "[1]]", "[", '"', '"a', '"\\x41"', '"\\u12"', '"\\u12_4"', '"\\', '"a\nb"', '"a\tb"', "1 2", "[1]x", "0x10", "1_000", "\ufeff1"]
    yield from ["[" * 64 + "]" * 64, "[" * 65 + "]" * 65, "[" * 66 + "]" * 66, '{"a":' * 64 + "1" + "}" * 64, '{"a":' * 65 + "1" + "}" * 65]
    yield from ["9" * 1000, "9" * 1001, "-" + "9" * 1000, "-" + "9" * 1001, "0" * 2]
    rand = random.Random(1)
    for _ in range(300):
        (value,) = struct.unpack("<d", struct.pack("<Q", rand.getrandbits(64)))
        if value == value and value not in (float("inf"), float("-inf")):
            yield repr(value)
            yield "%.25e" % value
    for _ in range(200):
        yield repr(rand.uniform(-1, 1) * 10 ** rand.randint(-8, 20))


def main():
    print(json.dumps([{"text": t, "canonical": canonical(t)} for t in texts()], indent=0))


if __name__ == "__main__":
    main()
