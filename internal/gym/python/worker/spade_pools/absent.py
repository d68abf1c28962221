"""Stand-ins for what packages import and these environments never use, such as plotting. They keep the sets small.

A stand-in is used only where the real module is not in the set. Using one raises an error that names it.
"""

import importlib.util
import sys
import types

from .base import PoolError


class _Module(types.ModuleType):
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        where = "%s.%s" % (self.__name__, name)

        class Absent:
            """Can be imported and named as a base or in an annotation, and no more."""

            def __init__(self, *args, **kwargs):
                raise PoolError("%s is not in the package set" % where)

            @classmethod
            def __get_pydantic_core_schema__(cls, *_):
                return {"type": "any"}  # a field of this type in a data model

        Absent.__name__ = Absent.__qualname__ = name
        return Absent


def stand_in(*names):
    """Puts stand-ins for the modules of these names, each after its parent, unless the parent is there for real."""
    for name in names:
        root = name.partition(".")[0]
        if root not in sys.modules and importlib.util.find_spec(root) is not None:
            continue
        if root in sys.modules and not isinstance(sys.modules[root], _Module):
            continue
        module = _Module(name)
        module.__path__ = []
        sys.modules[name] = module
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)


def leave_out(*names):
    """Puts stand-ins for modules of a package that these environments never use and whose own imports are not in the set."""
    for name in names:
        sys.modules[name] = _Module(name)
