"""The module json, see module_json.go."""

from .arguments import Module, need_text
from .canonical import canonical, decode

NOTHING = object()


def json_encode(value, /):
    return canonical(value)[0]


def json_decode(s, default=NOTHING, /):
    need_text(s)
    try:
        return decode(s)
    except ValueError:
        if default is NOTHING:
            raise
        return default


def json_kind(value, /):
    if value is None:
        return "null"
    for of, name in ((bool, "bool"), (int, "int"), (float, "float"), (str, "text"), ((list, tuple), "list"), (dict, "dict")):
        if isinstance(value, of):
            return name
    raise TypeError("not a JSON value: a " + type(value).__name__)


json = Module({"encode": json_encode, "decode": json_decode, "kind": json_kind})
