"""What the adapters share."""

import datetime
import functools
import hashlib
import importlib.metadata
import json
import math
import random
import re
import sys

from .revisions import REVISIONS


class PoolError(Exception):
    """What is wrong with the package or with how it is used here; never the agent's fault."""


def check_version(distribution, wanted, adapter):
    """Fails when the mounted package, or its adapter, is not the one that the source names."""
    found = installed_version(distribution)
    if found != wanted:
        raise PoolError("%s %s is installed, the source is for %s" % (distribution, found, wanted))
    here = REVISIONS[distribution]
    if adapter != here:
        raise PoolError("the adapter of %s has revision %s here, the source is for %s" % (distribution, here, adapter))


@functools.lru_cache(maxsize=None)
def installed_version(distribution):
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise PoolError("%s is not installed" % distribution) from None


def fold(seed, seeds):
    """The seed of the package: any env seed, folded into the range that the source names, both ends included."""
    low, high = seeds
    if low <= seed <= high:
        return seed
    return low + seed % (high - low + 1)


def digest(value):
    """A short text that changes with value, for what is in no state otherwise, such as a generator's."""
    return hashlib.sha256(repr(value).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def unit(value):
    """A score of the package's own, held to [0, 1]. One that is no number is an error of the package, and no score."""
    number = float(value)
    if not math.isfinite(number):
        raise PoolError("a score of %r" % (value,))
    return min(1.0, max(0.0, number))


def plain(value, within=()):
    """The JSON value of what a package holds: tuples and arrays as lists, sets sorted, numpy scalars as numbers.

    An object within itself is written once, and its class's name stands where it comes again.
    """
    if value is None or isinstance(value, (bool, str)):
        return value
    if isinstance(value, int):
        return value if abs(value) < 2**53 else str(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else repr(value)
    if isinstance(value, bytes):
        return value.decode("latin-1")
    if isinstance(value, (datetime.date, datetime.time)):
        return "moment"  # a package that notes when something was made shows it to nobody
    if id(value) in within:
        return type(value).__name__
    within = within + (id(value),)
    if isinstance(value, dict):
        return {key if isinstance(key, str) else repr(plain(key)): plain(item, within) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item, within) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item, within) for item in value), key=lambda item: json.dumps(item, sort_keys=True))
    if isinstance(value, random.Random):
        return digest(value.getstate())
    if hasattr(value, "tolist"):
        return plain(value.tolist(), within)
    if hasattr(value, "__dict__"):
        return {"class": type(value).__name__, "fields": plain(vars(value), within)}
    return type(value).__name__


def veil(hint, seen, offered=(), shortest=4):
    """The hint with the words spelled that the first observation holds too: which of them count is the secret.

    What an agent may choose from is told to everyone and stays as it is.
    """
    def words(text):
        return "".join(c if c.isalnum() else " " for c in text.lower()).split()

    told = {word for word in words(seen) if len(word) >= shortest}.difference(words(" ".join(offered)))
    return re.sub(r"[^\W_]+", lambda match: "-".join(match[0]) if match[0].lower() in told else match[0], hint)


class Generators:
    """The process-global generators of random and numpy, one state for each episode.

    Many packages seed them at reset and draw from them afterwards, so that two episodes in one process disturb each
    other. `with` gives the episode its own state and puts the process's back; this repairs theirs, and docs/pools.md
    says so.
    """

    def __init__(self, seed):
        self._states = None
        self._seed = seed

    def __enter__(self):
        self._outside = self._read()
        if self._states is None:
            random.seed(self._seed)
            if "numpy" in sys.modules:
                sys.modules["numpy"].random.seed(self._seed % 2**32)
        else:
            self._write(self._states)
        return self

    def __exit__(self, *_):
        self._states = self._read()
        self._write(self._outside)
        self._outside = None

    def adopt(self, other):
        """Goes on from where another stands."""
        self._states = other._states

    def state(self):
        return digest([self._states[0], [plain(part) for part in self._states[1] or ()]]) if self._states else None

    @staticmethod
    def _read():
        numpy = sys.modules.get("numpy")
        return random.getstate(), numpy.random.get_state() if numpy else None

    @staticmethod
    def _write(states):
        random.setstate(states[0])
        if states[1] is not None:
            sys.modules["numpy"].random.set_state(states[1])


def catalogue(title, distribution, list_entries):
    """An environment that says what a package has: `list_entries()` returns (version, entries, missing).

    Entries are dictionaries with name, seeds and options; missing ones have name and reason.
    """

    class Catalogue:
        META = {"title": title, "kind": "reasoning", "max_steps": 1}

        def reset(self, seed):
            version, entries, missing = list_entries()
            return json.dumps({
                "version": version, "adapter": REVISIONS[distribution], "entries": entries, "missing": missing,
            }), {}

        def step(self, action):
            return "", 0.0, True, False, {}

        def hint(self):
            return ""

        def verify(self):
            return 0.0

        def state(self):
            return None

    return Catalogue


def entry(name, low, high, **options):
    return {"name": name, "seeds": [low, high], "options": options}


def missing(name, reason):
    return {"name": name, "reason": reason}
