"""BFCL: multi-turn tool calling over the package's simulated APIs, judged by its own state and response checks.

An action is one tool call, {"name": …, "arguments": {…}}, or a list of them; any other text ends the user's turn, as a
model's answer without a call does in BFCL. The next user message is then the next observation.
"""

import ast
import functools
import inspect
import importlib
import itertools
import json
import os

import bfcl_eval
from bfcl_eval.constants.default_prompts import MAXIMUM_STEP_LIMIT
from bfcl_eval.constants.executable_backend_config import (
    CLASS_FILE_PATH_MAPPING, MULTI_TURN_FUNC_DOC_FILE_MAPPING,
)
from bfcl_eval.eval_checker.multi_turn_eval import multi_turn_utils
from bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker import (
    multi_turn_checker, response_checker, state_checker,
)

from .base import Generators, PoolError, catalogue, check_version, digest, entry, fold, installed_version, plain
from .reasoning_words import words

DISTRIBUTION = "bfcl_eval"

# A category and the file it is in. The other multi-turn categories change the tools or the texts during the
# conversation; their files are laid out alike.
_CATEGORIES = {"multi_turn_base": "BFCL_v4_multi_turn_base.json"}
_LEAK_WORD = 4  # as the acceptance gate counts
_numbers = itertools.count()


def make(name, version, seeds, adapter, **options):
    """The class of a category: the env seed is the number of the task in it."""
    check_version(DISTRIBUTION, version, adapter)
    category, number = name, None
    if name not in _CATEGORIES:
        category, _, number = name.rpartition("_")
        if category not in _CATEGORIES or not number.isdigit():
            raise PoolError("BFCL has no environment %s" % name)
    meta = _meta(name, category, number)

    class Env(_Env):
        META = meta
        _category, _seeds = category, tuple(seeds)

    return Env


@functools.lru_cache(maxsize=None)
def _meta(name, category, number):
    tasks, _ = _data(category)
    if number is None:
        classes = sorted({c for task in tasks for c in task["involved_classes"]})
    else:
        classes = sorted(tasks[int(number)]["involved_classes"])
    return {
        "title": "%s of the Berkeley Function-Calling Leaderboard" % name, "kind": "tools",
        # Every turn may take its steps and the text that ends it.
        "max_steps": max(len(task["question"]) for task in tasks) * (MAXIMUM_STEP_LIMIT + 1),
        "tools": [_schema(tool) for c in classes for tool in _tools(c)],
    }


class _Env:
    def reset(self, seed):
        tasks, answers = _data(self._category)
        number = fold(seed, self._seeds)
        self._task, self._truth = tasks[number], answers[number]
        # The package keeps its simulated APIs in a module's globals under a name made of these; ours is nobody else's.
        self._who = "spade%d" % next(_numbers)
        self._generators = Generators(number)
        self._transcript = [[]]  # for each turn its steps, for each step its calls, as the package writes them
        self._said, self._failed, self._over = [], "", False
        with self._generators:
            _, self._live = self._execute([], self._who)
            _, self._ideal = self._execute([], self._who + "_ideal")
        return self._first(), {}

    def __del__(self):
        for key in [key for key in vars(multi_turn_utils) if key.startswith(getattr(self, "_who", "-") + "_")]:
            delattr(multi_turn_utils, key)

    def step(self, action):
        calls = _calls(action)
        if calls is None:
            return self._end_turn()
        written = [_write(name, arguments) for name, arguments in calls]
        with self._generators:
            results, self._live = self._execute(written, self._who)
        self._transcript[-1].append(written)
        self._said.extend(results)
        text = "\n".join(results)
        if len(self._transcript[-1]) > MAXIMUM_STEP_LIMIT:
            # As the package does: the whole task has failed.
            self._failed, self._over = "forced to quit", True
            return text, 0.0, False, True, {}
        return text, 0.0, False, False, {}

    def _end_turn(self):
        turn = len(self._transcript) - 1
        self._failed = self._failed or self._check(turn)
        if turn + 1 < len(self._task["question"]):
            self._transcript.append([])
            return _message(self._task["question"][turn + 1]), 0.0, False, False, {}
        self._over = True
        return "", 0.0 if self._failed else 1.0, True, False, {}

    def _check(self, turn):
        """What is wrong after a turn, by the package's checks on the live APIs; empty when nothing is."""
        truth = self._truth[turn]
        with self._generators:
            ideal, self._ideal = self._execute(truth, self._who + "_ideal")
        if not truth:
            return ""
        if not any(self._transcript[turn]):
            return "no call"
        checked = state_checker(self._live, self._ideal)
        if checked["valid"]:
            checked = response_checker(self._said, ideal, turn)
        return "" if checked["valid"] else checked["error_type"]

    def verify(self):
        """The package's checker over the whole conversation, which plays all its calls again in fresh APIs."""
        if not self._over or self._failed == "forced to quit":
            return 0.0
        who = self._who + "_verify%d" % next(_numbers)
        with Generators(0):
            verdict = multi_turn_checker(self._transcript, self._truth, self._task, self._category, who)
        for key in [key for key in vars(multi_turn_utils) if key.startswith(who + "_")]:
            delattr(multi_turn_utils, key)
        return 1.0 if verdict["valid"] is True else 0.0

    def hint(self):
        """The calls of the ground truth, without the values that the first message holds words of."""
        asked = set(words(self._first()))
        lines = []
        for number, turn in enumerate(self._truth):
            calls = "; ".join(_outline(*_parse(call, self._task), asked) for call in turn)
            lines.append("turn %d: %s" % (number + 1, calls or "no call is needed"))
        return "The calls to make in each turn, ... being what the message says.\n" + "\n".join(lines)

    def solve(self):
        actions = []
        for turn in self._truth:
            for call in turn:
                name, arguments = _parse(call, self._task)
                actions.append(json.dumps({"name": name, "arguments": arguments}))
            actions.append("Done.")
        return actions

    def state(self):
        return {
            "transcript": self._transcript, "failed": self._failed, "over": self._over,
            "apis": {name: digest(plain(vars(api))) for name, api in self._live.items()},
        }

    def _first(self):
        tools = [tool for c in self._task["involved_classes"] for tool in _tools(c)]
        return _opening(tools, self._task["question"][0])

    def _execute(self, calls, who):
        return multi_turn_utils.execute_multi_turn_func_call(
            func_call_list=calls, initial_config=self._task["initial_config"],
            involved_classes=self._task["involved_classes"], model_name=who, test_entry_id=self._task["id"],
        )


def _opening(tools, messages):
    return (
        'You can call these functions. Answer with one call, {"name": ..., "arguments": {...}}, or a list of calls; answer '
        "in plain words when nothing is left to call for the request.\n%s\n\nRequest: %s"
        % ("\n".join(json.dumps(tool) for tool in tools), _message(messages))
    )


def _message(messages):
    return "\n".join(message["content"] for message in messages)


def _calls(action):
    """The calls of an action; None when it is an answer in words."""
    try:
        value = json.loads(action)
    except (ValueError, RecursionError):
        return None
    values = value if isinstance(value, list) else [value]
    calls = []
    for call in values:
        if not isinstance(call, dict) or not isinstance(call.get("name"), str):
            return None
        arguments = call.get("arguments", {})
        if not isinstance(arguments, dict) or not call["name"].isidentifier():
            return None
        if not all(key.isidentifier() for key in arguments):
            return None
        calls.append((call["name"], arguments))
    return calls or None


def _write(name, arguments):
    """A call as the package takes it, which evaluates it as Python."""
    return "%s(%s)" % (name, ",".join("%s=%r" % (key, value) for key, value in arguments.items()))


def _parse(call, task):
    """The name and arguments of a ground-truth call; what it gives by position gets its name."""
    tree = ast.parse(call, mode="eval").body
    name = tree.func.id
    arguments = {}
    if tree.args:
        names = list(inspect.signature(_method(name, task)).parameters)[1:]
        arguments.update((key, ast.literal_eval(value)) for key, value in zip(names, tree.args))
    arguments.update((keyword.arg, ast.literal_eval(keyword.value)) for keyword in tree.keywords)
    return name, arguments


def _method(name, task):
    for c in task["involved_classes"]:
        found = getattr(getattr(importlib.import_module(CLASS_FILE_PATH_MAPPING[c]), c), name, None)
        if found is not None:
            return found
    raise PoolError("%s is no function of %s" % (name, ", ".join(task["involved_classes"])))


def _outline(name, arguments, asked):
    parts = []
    for key, value in arguments.items():
        text = repr(value)
        told = any(len(word) >= _LEAK_WORD and word in asked for word in words(text))
        parts.append("%s=%s" % (key, "..." if told else text))
    return "%s given %s" % (name, ", ".join(parts)) if parts else name


def _read(*path):
    with open(os.path.join(os.path.dirname(bfcl_eval.__file__), "data", *path), encoding="utf-8") as lines:
        return [json.loads(line) for line in lines if line.strip()]


@functools.lru_cache(maxsize=None)
def _data(category):
    """The tasks of a category and their ground truths, in the same order."""
    truths = {truth["id"]: truth["ground_truth"] for truth in _read("possible_answer", _CATEGORIES[category])}
    tasks = _read(_CATEGORIES[category])
    return tasks, [truths[task["id"]] for task in tasks]


@functools.lru_cache(maxsize=None)
def _tools(class_name):
    return tuple(_read("multi_turn_func_doc", MULTI_TURN_FUNC_DOC_FILE_MAPPING[class_name]))


def _schema(tool):
    """A function's description as JSON Schema writes it."""
    return {"name": tool["name"], "description": tool["description"], "parameters": _typed(tool["parameters"])}


_TYPES = {"dict": "object", "float": "number", "tuple": "array", "any": "string"}


def _typed(schema):
    if isinstance(schema, dict):
        return {
            key: _TYPES.get(value, value) if key == "type" and isinstance(value, str) else _typed(value)
            for key, value in schema.items()
        }
    return [_typed(item) for item in schema] if isinstance(schema, list) else schema


def _list():
    entries = []
    for category in _CATEGORIES:
        tasks, _ = _data(category)
        entries.append(entry(category, 0, len(tasks) - 1))
        for number in range(len(tasks)):
            entries.append(dict(entry("%s_%d" % (category, number), number, number), part=True))
    return installed_version(DISTRIBUTION), entries, []


Catalogue = catalogue("The multi-turn categories of BFCL", DISTRIBUTION, _list)
