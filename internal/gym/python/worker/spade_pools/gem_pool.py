"""GEM: its text games. Its math, code and question sets are downloads, and its rg: sets are reasoning-gym's own pool."""

import contextlib
import functools
import importlib
import importlib.util
import io
import sys
import types

import numpy  # noqa: F401  (the package seeds its global generator)

from .absent import stand_in
from .base import Generators, PoolError, catalogue, check_version, entry, fold, installed_version, missing, plain, unit, veil

if importlib.util.find_spec("reasoning_gym") is None:
    # The package asks for reasoning-gym's list of data sets when it is imported, to register them under its own names.
    sys.modules["reasoning_gym"] = types.ModuleType("reasoning_gym")
    sys.modules["reasoning_gym"].factory = types.SimpleNamespace(DATASETS={})
stand_in("nltk", "nltk.corpus", "pandas", "datasets")

import gem  # noqa: E402
from gem.envs.registration import ENV_REGISTRY  # noqa: E402

from . import gem_solvers as solvers  # noqa: E402

DISTRIBUTION = "gem_llm"

_SEEDS = (0, 2**31 - 1)
_LIMIT = 300
_GAMES = "game:"
_LEFT_OUT = {"nltk": "nltk's word lists, which are downloaded", "pandas": "pandas"}


def make(name, version, seeds, adapter, **options):
    """The class of a game that GEM registers under name."""
    check_version(DISTRIBUTION, version, adapter)
    if name not in ENV_REGISTRY or not name.startswith(_GAMES):
        raise PoolError("GEM has no game %s" % name)
    solver = solvers.SOLVERS.get(_class(name).__name__)

    class Env(_Env):
        META = {"title": "%s of GEM" % name, "kind": "game", "max_steps": _LIMIT}
        _name, _seeds, _solver = name, tuple(seeds), solver

    if solver is None:
        Env.solve = None
    return Env


class _Env:
    def reset(self, seed):
        self._seed = fold(seed, self._seeds)
        self._generators = Generators(self._seed)
        self._actions, self._raw, self._over = [], 0.0, False
        with self._generators, _quiet():
            self._env, text, info = _start(self._name, self._seed)
        self._first = _told(text, info)
        return self._first, self._info()

    def step(self, action):
        self._actions.append(action)
        with self._generators, _quiet():
            text, reward, terminated, truncated, info = self._env.step(action)
        before = _cut(self._raw)
        self._raw += float(reward)
        # GEM sets both flags where its turns are used up; the game has ended then by its own rules.
        self._over = bool(terminated)
        truncated = not self._over and (bool(truncated) or len(self._actions) >= _LIMIT)
        paid = _cut(self._raw) - before
        if self._over or truncated:
            return text, paid, self._over, truncated, {}
        return _told(text, info), paid, False, False, self._info()

    def verify(self):
        """What a new game of the same seed pays for the same actions."""
        with Generators(self._seed), _quiet():
            env, _, _ = _start(self._name, self._seed)
            return _cut(sum(float(env.step(action)[1]) for action in self._actions))

    def hint(self):
        plan = self._plan()
        told = "One way to win: " if len(plan) <= 40 else "A way to win begins: "
        moves = " then ".join(solvers.unboxed(move) for move in plan[:40])
        return veil(told + moves, self._first, self._info().get("actions", ())) if plan else ""

    def solve(self):
        return self._plan()

    def state(self):
        return {
            "game": plain(vars(self._env)), "generator": self._generators.state(), "raw": self._raw,
            "actions": len(self._actions), "over": self._over,
        }

    def _info(self):
        listed = solvers.ACTIONS.get(type(self._env).__name__)
        return {"actions": [solvers.boxed(move) for move in listed(self._env)]} if listed else {}

    def _plan(self):
        return list(_solution(self._name, self._seed)) if self._solver else []


def _cut(raw):
    """The rewards so far, within [0, 1]."""
    return unit(raw)


def _told(text, info):
    suffix = info.get("suffix") if isinstance(info, dict) else None
    return "%s\n%s" % (text, suffix) if suffix else text


def _start(name, seed):
    env = gem.make(name)
    text, info = env.reset(seed=seed)
    return env, text, info


@functools.lru_cache(maxsize=64)
def _solution(name, seed):
    """The solution of a seed, kept because hint and solve are asked for it in every episode."""
    with Generators(seed), _quiet():
        env, _, _ = _start(name, seed)
        return tuple(solvers.SOLVERS[type(env).__name__](env))


def _quiet():
    return contextlib.redirect_stdout(io.StringIO())


def _class(name):
    module, _, attribute = ENV_REGISTRY[name].entry_point.partition(":")
    return getattr(importlib.import_module(module), attribute)


def _list():
    entries, absent = [], []
    for name in sorted(ENV_REGISTRY):
        if not name.startswith(_GAMES):
            absent.append(missing(name, "its tasks are downloaded, run in a container, or need a model"))
            continue
        path = ENV_REGISTRY[name].entry_point.partition(":")[0]
        module = importlib.util.find_spec(path)
        if module.submodule_search_locations:  # a folder, whose game is in the module of the same name
            module = importlib.util.find_spec(path + "." + path.rpartition(".")[2])
        source = module.loader.get_source(module.name)
        needed = [other for other in _LEFT_OUT if "import " + other in source or "from " + other in source]
        if needed:
            absent.append(missing(name, "needs %s, which is not in the set" % _LEFT_OUT[needed[0]]))
            continue
        try:
            with _quiet():
                _class(name)
        except Exception as error:  # whatever their modules do when they are imported
            absent.append(missing(name, "%s: %s" % (type(error).__name__, str(error)[:200])))
            continue
        entries.append(entry(name, *_SEEDS))
    return installed_version(DISTRIBUTION), entries, absent


Catalogue = catalogue("The text games of GEM", DISTRIBUTION, _list)
