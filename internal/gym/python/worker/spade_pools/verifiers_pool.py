"""verifiers: its task sets, rewards and weights, without its clients, harnesses and runtimes.

Everything that the package brings along talks to a model server, starts processes or downloads its data. So the pool is
two small data sets, written here in the package's own classes, whose tasks the package loads and scores.
"""

import asyncio
import functools
import random
import sys
import types

from .absent import leave_out, stand_in
from .base import PoolError, catalogue, check_version, entry, fold, installed_version, missing, unit

import verifiers

# The package's root for this version imports all of it, model clients included; its parts are imported one by one.
_root = types.ModuleType("verifiers.v1")
_root.__path__ = [path + "/v1" for path in verifiers.__path__]
sys.modules["verifiers.v1"] = _root
stand_in("openai", "renderers", "renderers.base")
leave_out("verifiers.v1.clients", "verifiers.v1.clients.base", "verifiers.v1.runtimes", "verifiers.v1.utils.loaders")

from verifiers.v1.configs.taskset import TasksetConfig  # noqa: E402
from verifiers.v1.task import Task, TaskData  # noqa: E402
from verifiers.v1.taskset import Taskset  # noqa: E402
from verifiers.v1.utils.decorators import metric, reward  # noqa: E402
from verifiers.v1.utils.score import extract_boxed_answer, verify_boxed_math_answer  # noqa: E402

DISTRIBUTION = "verifiers"

_TASKS = 200


class Arithmetic(TaskData):
    answer: str


class ArithmeticTask(Task[Arithmetic]):
    """One turn; the answer in a box."""

    turns = 1

    @reward(weight=0.8)
    async def correct(self, trace):
        return verify_boxed_math_answer(trace.last_reply, self.data.answer)

    @reward(weight=0.2)
    async def boxed(self, trace):
        return 1.0 if extract_boxed_answer(trace.last_reply, strict=True) else 0.0

    def reply(self, text):
        """What the user answers to a reply; None when there is no more to say."""
        return None

    def solution(self):
        return ["\\boxed{%s}" % self.data.answer]

    def tip(self):
        return "The number for the box is %s." % self.data.answer

    def judge(self, replies):
        """The same rubric without the package: numbers as numbers."""
        text = replies[-1] if replies else ""
        found = _boxed(text)
        return 0.2 * bool(found) + 0.8 * (found.strip().lstrip("+") == self.data.answer)


class ArithmeticTaskset(Taskset[ArithmeticTask, TasksetConfig]):
    def load(self):
        for number in range(_TASKS):
            draw = random.Random(number)
            a, b, c = draw.randint(12, 99), draw.randint(3, 19), draw.randint(100, 999)
            yield ArithmeticTask(Arithmetic(
                prompt="Work out %d * %d - %d and give the result as \\boxed{result}." % (a, b, c), answer=str(a * b - c),
            ), self.config.task)


class Range(TaskData):
    number: int
    top: int


class RangeTask(Task[Range]):
    """Many turns; the user says higher or lower."""

    turns = 12

    @reward(weight=0.7)
    async def found(self, trace):
        return 1.0 if _number(trace.last_reply) == self.data.number else 0.0

    @reward(weight=0.3)
    async def quick(self, trace):
        """By halving, seven replies do for a hundred numbers."""
        return 1.0 if len(trace.replies) <= 7 and _number(trace.last_reply) == self.data.number else 0.0

    @metric
    async def replies(self, trace):
        return float(len(trace.replies))

    def reply(self, text):
        guess = _number(text)
        if guess is None:
            return "Please name one whole number in \\boxed{}."
        if guess == self.data.number:
            return None
        return "My number is %s." % ("higher" if guess < self.data.number else "lower")

    def solution(self):
        low, high, replies = 1, self.data.top, []
        while True:
            guess = (low + high) // 2
            replies.append("\\boxed{%d}" % guess)
            if guess == self.data.number:
                return replies
            low, high = (guess + 1, high) if guess < self.data.number else (low, guess - 1)

    def tip(self):
        return "The number is %d." % self.data.number

    def judge(self, replies):
        hit = bool(replies) and replies[-1].replace(" ", "").endswith("\\boxed{%d}" % self.data.number)
        return 0.7 * hit + 0.3 * (hit and len(replies) <= 7)


class RangeTaskset(Taskset[RangeTask, TasksetConfig]):
    def load(self):
        for number in range(_TASKS):
            draw = random.Random(number)
            yield RangeTask(Range(
                prompt="I think of a whole number from 1 to 100. Find it: name one number a turn as \\boxed{number}, and I "
                "say whether mine is higher or lower.", number=draw.randint(1, 100), top=100,
            ), self.config.task)


_TASKSETS = {"boxed-arithmetic": ArithmeticTaskset, "higher-lower": RangeTaskset}
_MISSING = {
    "harbor": "its tasks run in containers", "nemo_gym": "it talks to a server of its own",
    "openenv": "it talks to a server in a container", "textarena": "it downloads word lists when its tasks are loaded",
}


class Trace:
    """What the package's scoring reads and writes of a trace. Its own class is made of model calls."""

    def __init__(self, replies):
        self.replies, self.metrics, self.rewards = list(replies), {}, {}

    @property
    def last_reply(self):
        return self.replies[-1].strip() if self.replies else ""

    def record_metric(self, name, value):
        self.metrics[name] = float(value)

    def record_metrics(self, values):
        for name, value in values.items():
            self.record_metric(name, value)

    def record_reward(self, name, value, weight=1.0):
        self.rewards[name] = float(value) * float(weight)


def make(name, version, seeds, adapter, **options):
    """The class of a task set: the env seed is the number of the task in it."""
    check_version(DISTRIBUTION, version, adapter)
    if name not in _TASKSETS:
        raise PoolError("there is no task set %s" % name)
    tasks = _tasks(name)

    class Env(_Env):
        META = {"title": "%s in verifiers" % name, "kind": "reasoning", "max_steps": tasks[0].turns}
        _tasks, _seeds = tasks, tuple(seeds)

    return Env


@functools.lru_cache(maxsize=None)
def _tasks(name):
    return tuple(_TASKSETS[name](TasksetConfig(id=name)))


class _Env:
    def reset(self, seed):
        self._number = fold(seed, self._seeds)
        self._task = self._tasks[self._number]
        self._replies, self._over = [], False
        return self._task.data.prompt_text, {}

    def step(self, action):
        self._replies.append(action)
        answer = self._task.reply(action)
        if answer is not None and len(self._replies) < self._task.turns:
            return answer, 0.0, False, False, {}
        self._over = True
        # An exchange that the user did not end was cut, and is scored as it stands.
        return answer or "", self._score(), answer is None, answer is not None, {}

    def verify(self):
        return unit(self._task.judge(self._replies)) if self._over else 0.0

    def hint(self):
        return self._task.tip()

    def solve(self):
        return self._task.solution()

    def state(self):
        return {"task": self._number, "replies": list(self._replies), "over": self._over}

    def _score(self):
        """The package's score of the exchange: the weighted sum of the task's rewards."""
        trace = Trace(self._replies)
        _Loop.run(self._task.score(trace))
        return unit(sum(trace.rewards.values()))


class _Loop(asyncio.BaseEventLoop):
    """An event loop for coroutines that wait for nothing outside: it opens no socket, which no worker may."""

    class _Nothing:
        def select(self, timeout=None):
            if timeout is None:
                raise PoolError("the package waits for something that cannot come")
            return []

        def close(self):
            pass

    def __init__(self):
        super().__init__()
        self._selector = self._Nothing()

    def _process_events(self, events):
        pass

    def _write_to_self(self):
        pass

    @classmethod
    def run(cls, coroutine):
        loop = cls()
        try:
            return loop.run_until_complete(coroutine)
        finally:
            loop.close()


def _boxed(text):
    start = text.rfind("\\boxed{")
    end = text.find("}", start)
    return text[start + len("\\boxed{"):end] if start >= 0 and end > start else ""


def _number(text):
    inside = _boxed(text).strip()
    return int(inside) if inside.isascii() and inside.isdigit() and len(inside) < 10 else None


def _list():
    entries = [entry(name, 0, _TASKS - 1) for name in sorted(_TASKSETS)]
    return installed_version(DISTRIBUTION), entries, [missing(name, _MISSING[name]) for name in sorted(_MISSING)]


Catalogue = catalogue("Task sets for verifiers", DISTRIBUTION, _list)
