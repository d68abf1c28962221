"""TextArena: its single-player games, with the game's own messages as observations."""

import contextlib
import copy
import functools
import importlib
import importlib.util
import io
import math

from .absent import leave_out, stand_in
from .base import Generators, PoolError, catalogue, check_version, entry, fold, installed_version, missing, plain, unit, veil

leave_out("textarena.api", "textarena.agents")  # play over the network, and models as players
stand_in("nltk", "nltk.corpus", "rich", "rich.markup", "rich.layout", "rich.console", "rich.panel", "chess")

import textarena  # noqa: E402
from textarena.envs.registration import ENV_REGISTRY  # noqa: E402

from . import textarena_solvers as solvers  # noqa: E402

DISTRIBUTION = "textarena"

_SEEDS = (0, 2**31 - 1)
# What TextArena registers each game under besides its name: the same game in other wrappers.
_VARIANTS = ("-raw", "-train")
_LIMIT = 300
# A game whose rewards are not within [0, 1], and what its best is.
_SCALE = {"Set": 20.0}
# Games that look for a puzzle when they begin, for a second or more.
_SLOW = ("RushHour", "Sokoban")


def make(name, version, seeds, adapter, **options):
    """The class of a game that TextArena registers under name, without its wrappers."""
    check_version(DISTRIBUTION, version, adapter)
    if name not in ENV_REGISTRY:
        raise PoolError("TextArena has no game %s" % name)
    spec = ENV_REGISTRY[name]
    game = _game(spec)

    class Env(_Env):
        META = {"title": "%s of TextArena" % name, "kind": "game", "max_steps": _LIMIT}
        _game, _spec, _seeds = game, spec, tuple(seeds)

    if not solvers.solves(game, spec.kwargs):
        Env.solve = None
    _class(spec)  # fails here, when the source is loaded
    return Env


class _Env:
    def reset(self, seed):
        self._seed = fold(seed, self._seeds)
        self._generators = Generators(self._seed)
        self._actions, self._paid, self._over = [], 0.0, False
        with _quiet():
            self._env = _started(self._spec, self._seed, self._generators)
        with self._generators:
            self._first = self._messages()
        return self._first, self._info()

    def step(self, action):
        self._actions.append(action)
        with self._generators, _quiet():
            done, _ = self._env.step(action)
            text = self._messages()
        self._over = bool(done)
        reward = self._reward(self._env) if self._over else 0.0
        self._paid += reward
        cut = not self._over and len(self._actions) >= _LIMIT
        return text, reward, self._over, cut, {} if self._over or cut else self._info()

    def verify(self):
        """What a new game of the same seed pays for the same actions."""
        generators = Generators(self._seed)
        with _quiet():
            env = _started(self._spec, self._seed, generators)
        with generators, _quiet():
            for action in self._actions:
                if env.step(action)[0]:
                    return self._reward(env)
        return 0.0

    def hint(self):
        plan = self._plan()
        if not plan:
            return ""
        told = "One way to win: " if len(plan) <= 40 else "A way to win begins: "
        return veil(told + " then ".join(plan[:40]), self._first, self._info().get("actions", ()))

    def solve(self):
        return self._plan()

    def state(self):
        state = self._env.state
        return {
            "game": plain(state.game_state),
            "own": plain({key: _short(value) for key, value in vars(self._env).items() if key != "state"}),
            "turn": state.turn, "done": state.done, "rewards": plain(state.rewards), "errors": state.error_count,
            "generator": self._generators.state(), "actions": len(self._actions),
        }

    def _info(self):
        listed = solvers.ACTIONS.get(self._game)
        return {"actions": listed(self._env)} if listed else {}

    def _plan(self):
        solved = solvers.solves(self._game, self._spec.kwargs)
        return list(_solution(self._spec.id, self._seed)) if solved else []

    def _reward(self, env):
        """The game's reward, cut to [0, 1]: a forbidden move that ends a game is -1 in TextArena."""
        rewards = env.state.rewards
        if not rewards or isinstance(rewards[0], bool) or not isinstance(rewards[0], (int, float)):
            raise PoolError("the game ended with the rewards %r" % (rewards,))
        if not math.isfinite(rewards[0]):
            raise PoolError("the game ended with the reward %r" % rewards[0])
        return unit(rewards[0] / _SCALE.get(self._game, 1.0))

    def _messages(self):
        """What the game has said since the last time, without the echo of the player's own words.

        Some games hand the parts of that echo over in the wrong order, so that its kind is no kind.
        """
        _, messages = self._env.get_observation()
        kinds = textarena.ObservationType
        said = [text for _, text, kind in messages if isinstance(kind, kinds) and kind is not kinds.PLAYER_ACTION]
        return "\n".join(said).strip("\n")


def _start(spec, seed):
    env = _class(spec)(**spec.kwargs)
    env.reset(num_players=1, seed=seed)
    return env


def _started(spec, seed, generators):
    """A game right after its reset, and the generators as it left them. What is slow to make is made once a seed."""
    if _game(spec) in _SLOW:
        env, after = _pristine(spec.id, seed)
        generators.adopt(after)
        return copy.deepcopy(env)
    with generators:
        return _start(spec, seed)


@functools.lru_cache(maxsize=64)
def _pristine(name, seed):
    generators = Generators(seed)
    with generators, _quiet():
        return _start(ENV_REGISTRY[name], seed), generators


def _short(value):
    """A game's own attribute, for its state: a table that is longer than any board does not change."""
    return len(value) if isinstance(value, (dict, frozenset, list, set, tuple)) and len(value) > 1000 else value


@functools.lru_cache(maxsize=64)
def _solution(name, seed):
    """The solution of a seed, kept because hint and solve are asked for it in every episode."""
    spec = ENV_REGISTRY[name]
    generators = Generators(seed)
    with _quiet():
        env = _started(spec, seed, generators)
    with generators, _quiet():
        return tuple(solvers.SOLVERS[_game(spec)](env))


def _quiet():
    return contextlib.redirect_stdout(io.StringIO())  # some games print while they are made


def _game(spec):
    """The folder of the game, which is its name without difficulty."""
    return spec.entry_point.split(".")[2]


def _class(spec):
    module, _, name = spec.entry_point.partition(":")
    with _quiet():
        return getattr(importlib.import_module(module), name)


def _list():
    entries, absent = [], []
    for name in sorted(ENV_REGISTRY):
        if name.endswith(_VARIANTS):
            continue
        spec = ENV_REGISTRY[name]
        try:
            module = importlib.util.find_spec(spec.entry_point.partition(":")[0])
            source = module.loader.get_source(module.name) if module else ""
        except (ImportError, SyntaxError, ValueError):
            source = ""
        if "SinglePlayerState" not in source:
            absent.append(missing(name, "it is for several players, or talks to a model over the network"))
            continue
        try:
            _class(spec)(**spec.kwargs)
        except Exception as error:  # whatever their modules do when they are imported
            absent.append(missing(name, "%s: %s" % (type(error).__name__, str(error)[:200])))
            continue
        entries.append(entry(name, *_SEEDS))
    return installed_version(DISTRIBUTION), entries, absent


Catalogue = catalogue("The single-player games of TextArena", DISTRIBUTION, _list)
