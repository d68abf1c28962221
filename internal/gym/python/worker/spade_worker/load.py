"""Loading a source: parse it, execute it once to see what it is, check META."""

import sys

from . import objects, wire
from .canonical import canonical
from .data import json
from .faults import EXCEPTION, FILENAME, SHAPE, Fault, Malformed, Reporter, describe, kind, shape, trim
from .functional import Functional
from .mathematics import math
from .rng import Rng
from .text import text

MAX_TITLE = 200
MAX_STEPS = 1000
MAX_META = 64 << 10
KINDS = ("reasoning", "tools", "game")
KEYS = ("title", "kind", "max_steps", "tools")

Module = type(sys)
NAME = "env"


class Source:
    """A source that was loaded. Every episode executes it anew, in a namespace of its own."""

    def __init__(self, code, reporter):
        self.code = code
        self.reporter = reporter
        self.limits = self.around = None
        self.meta = self.form = None

    def execute(self, rng):
        """The namespace of the source right after it was executed."""
        module = Module(NAME)
        namespace = module.__dict__
        namespace.update(text=text, json=json, math=math, rng=rng)
        sys.modules[NAME] = module  # where a data class looks for the names in its annotations
        try:
            exec(self.code, namespace)
        except BaseException as error:
            raise self.reporter.fault(error) from None
        finally:
            sys.modules.pop(NAME, None)
        return namespace

    def game(self, seed):
        """A fresh episode that nothing was asked of yet."""
        rng = Rng(seed)
        return self.form(self.execute(rng), rng, self)


def load(code, limits, around, packages):
    """The source and the answer to the platform, which says what is wrong where there is no source."""
    try:
        source_text = code.decode("utf-8-sig")  # an editor's mark at the beginning is none of the source, as in Python
    except UnicodeDecodeError as error:
        return None, refused("parse", Fault(EXCEPTION, "%s: not UTF-8: %s" % (FILENAME, error.reason)))
    nul = source_text.find("\0")
    if nul >= 0:  # of which every version of Python says something else, and none where it is
        place = source_text.count("\n", 0, nul) + 1, nul - source_text.rfind("\n", 0, nul)
        return None, refused("parse", Fault(EXCEPTION, "%s:%d:%d: a source has no null bytes" % (FILENAME, *place)))
    reporter = Reporter(source_text, packages)
    try:
        compiled = compile(source_text, FILENAME, "exec", dont_inherit=True)
    except SyntaxError as error:
        place = ":".join(str(part) for part in (FILENAME, error.lineno, error.offset) if part is not None)
        return None, refused("parse", Fault(EXCEPTION, trim(place + ": " + str(error.msg))))
    except (ValueError, MemoryError, RecursionError, OverflowError) as error:
        return None, refused("parse", Fault(EXCEPTION, trim("%s: %s" % (FILENAME, describe(error)))))
    source = Source(compiled, reporter)
    source.limits, source.around = limits, around
    if around is not None:
        around.call(0, 0)
    try:
        namespace = source.execute(Rng(0))
    except Fault as fault:
        return None, refused("load", fault)
    try:
        source.form = form(namespace)
        source.meta = Meta(source.form.meta(namespace), source.form)
    except Malformed as error:
        return None, refused("meta", Fault(error.cause, trim(error.text)))
    except BaseException as error:  # code of the environment in what META is made of
        return None, refused("meta", reporter.fault(error))
    return source, answer("", None, source.meta)


def form(namespace):
    """How the source is written: functions, or a class."""
    if "reset" in namespace or "step" in namespace:
        Functional.check(namespace)
        return Functional
    return objects.form(namespace)


def refused(stage, fault):
    return answer(stage, fault, None)


def answer(stage, fault, meta):
    parts = [wire.string(stage), wire.fault(fault)]
    if meta is None:
        parts.append(b"\0\0\0\0\0")
    else:
        parts += wire.string(meta.title), wire.string(meta.kind), wire.uint(meta.max_steps)
        parts += b"\1" if meta.has_solve else b"\0", wire.uint(len(meta.tools)), b"".join(map(wire.blob, meta.tools))
    return b"".join(parts)


def is_title(title):
    control = any(c < " " or "\x7f" <= c <= "\x9f" for c in title)
    return len(title.encode("utf-8", "replace")) <= MAX_TITLE and title.strip() != "" and not control


class Meta:
    """What an environment says about itself, checked."""

    def __init__(self, meta, form):
        if not isinstance(meta, dict):
            raise shape("META is a %s, want a dictionary" % kind(meta))
        for key in meta:
            if key not in KEYS + form.keys:
                raise shape("META has an unknown key %r" % (key,))
        self.title = meta.get("title")
        if not isinstance(self.title, str) or not is_title(str.__str__(self.title)):
            raise shape("META title must be a text of 1 to %d bytes, not blank and without control characters" % MAX_TITLE)
        self.kind = meta.get("kind")
        if not isinstance(self.kind, str) or self.kind not in KINDS:
            raise shape("META kind must be reasoning, tools or game")
        steps = meta.get("max_steps")
        if not isinstance(steps, int) or isinstance(steps, bool) or not 1 <= steps <= MAX_STEPS:
            raise shape("META max_steps must be an integer from 1 to %d" % MAX_STEPS)
        self.max_steps = int(steps)
        try:
            canonical(meta, MAX_META)
        except Malformed as error:
            raise Malformed(SHAPE, "META: " + error.text) from None
        self.tools = self.read_tools(meta["tools"]) if "tools" in meta else []
        self.has_solve = form.solves
        self.range = form.range(meta)

    def read_tools(self, tools):
        if not isinstance(tools, list):
            raise shape("META tools must be a list of JSON Schemas")
        for tool in tools:
            if not isinstance(tool, dict):
                raise shape("META tools must be a list of JSON Schemas, not of " + kind(tool))
        return [canonical(tool, MAX_META)[1] for tool in tools]
