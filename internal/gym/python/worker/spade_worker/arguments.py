"""What the functions of the predeclared modules take. A bool is no number and a text is no list, as in Starlark."""

from .canonical import MAX_TEXT

LEAST = -(1 << 63)
MOST = (1 << 63) - 1


def need_text(value):
    if not isinstance(value, str):
        raise TypeError("want a string, not a " + type(value).__name__)
    return value


def need_part(value):
    if not need_text(value):
        raise ValueError("argument 2 is empty")
    return value


def need_int(value):
    if not isinstance(value, int) or value is True or value is False:
        raise TypeError("want an int, not a " + type(value).__name__)
    return value


def need_int64(value):
    if not LEAST <= need_int(value) <= MOST:
        raise ValueError("an argument is out of range")
    return value


def need_list(value):
    if not isinstance(value, (list, tuple)):
        raise TypeError("want a list, not a " + type(value).__name__)
    return value


def need_number(value):
    if isinstance(value, float):
        if value - value != 0:  # infinite, or not a number
            raise ValueError("the number is not finite")
        return value
    return need_int(value)


def size(text):
    """The bytes of a text."""
    return len(text) if text.isascii() else len(text.encode())


def bounded(text):
    if size(text) > MAX_TEXT:
        raise too_large()
    return text


def too_large():
    return ValueError("the result is over the size limit of %d bytes" % MAX_TEXT)


class Module:
    """A predeclared module: its functions and constants, and nothing that can be changed."""

    __slots__ = ("__dict__",)

    def __init__(self, members):
        self.__dict__.update(members)

    def __setattr__(self, name, value):
        raise AttributeError("a module of the platform cannot be changed")

    __delattr__ = None
