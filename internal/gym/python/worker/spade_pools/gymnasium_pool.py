"""Gymnasium: toy_text and the classic control tasks with discrete actions, told in words."""

import gymnasium
from gymnasium.envs.registration import registry

from . import gymnasium_games as games
from .base import PoolError, catalogue, check_version, digest, entry, fold, installed_version, missing, unit

_SEEDS = (0, 2**31 - 1)


def make(name, version, seeds, adapter, **options):
    """The class of the environment that the package registers under name."""
    check_version("gymnasium", version, adapter)
    if name not in games.GAMES or name not in registry:
        raise PoolError("no adapter for %s" % name)
    game = games.GAMES[name]

    class Env(_Env):
        META = {"title": "%s of Gymnasium" % name, "kind": "game", "max_steps": game.limit}
        _name, _game, _options, _seeds = name, game, options, tuple(seeds)

    if game.plan is None:
        Env.solve = None
    return Env


class _Env:
    def reset(self, seed):
        self._seed = fold(seed, self._seeds)
        self._env = self._fresh()
        self._actions, self._raw, self._ended = [], 0.0, False
        self._turns, self._plan = 0, None
        return self._observe(), {"actions": list(self._game.words)}

    def step(self, action):
        self._turns += 1
        word = action.strip().lower()
        paid, terminated, truncated = 0.0, False, False
        if word in self._game.words:
            move = self._game.words.index(word)
            self._actions.append(move)
            _, reward, terminated, truncated, _ = self._env.step(move)
            self._raw += float(reward)
            paid = self._game.pay(self, float(reward), terminated)
            text = self._observe()
        else:
            text = "There is no such move. " + self._observe()
        truncated = not terminated and (truncated or self._turns >= self._game.limit)
        if terminated or truncated:
            self._ended = True
            paid += self._game.settle(self, terminated)
        return text, paid, terminated, truncated, {"actions": [] if self._ended else list(self._game.words)}

    def verify(self):
        return unit(self._game.judge(self))

    def hint(self):
        return self._game.hint(self)

    def solve(self):
        return [self._game.words[move] for move in self.plan()]

    def state(self):
        inner = self._env.unwrapped
        return {
            "place": self._game.snapshot(inner)[0], "generator": digest(inner.np_random.bit_generator.state),
            "actions": list(self._actions), "turns": self._turns, "raw": self._raw, "ended": self._ended,
        }

    # For the games.

    def inner(self):
        return self._env.unwrapped

    def seed(self):
        return self._seed

    def raw(self):
        return self._raw

    def plan(self):
        """The moves of the reference solution, found on a copy from the same seed."""
        if self._plan is None:
            self._plan = self._game.plan(self._fresh().unwrapped, self._game.limit)
        return self._plan

    def best(self):
        """The raw return of the reference solution."""
        return self.replay(self.plan())[0]

    def replay(self, moves=None):
        """The raw return of moves (those played, if none are given) in a new copy from the same seed, and its end."""
        env, total, terminated = self._fresh(), 0.0, False
        for move in self._actions if moves is None else moves:
            _, reward, terminated, truncated, _ = env.step(move)
            total += float(reward)
            if terminated or truncated:
                break
        return total, terminated

    def _fresh(self):
        env = gymnasium.make(self._name, disable_env_checker=True, **self._options)
        env.reset(seed=self._seed)
        return env

    def _observe(self):
        return self._game.tell(self._env.unwrapped)


def _list():
    entries = [entry(name, *_SEEDS) for name in sorted(games.GAMES) if name in registry]
    absent = [missing(name, games.why_not(registry[name])) for name in sorted(registry) if name not in games.GAMES]
    return installed_version("gymnasium"), entries, absent


Catalogue = catalogue("The environments of Gymnasium", "gymnasium", _list)
