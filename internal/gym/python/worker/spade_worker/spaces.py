"""A plain gymnasium.Env: its spaces are rendered to text, its actions read from text.

An action that is none is answered by an observation that says so; it costs a step and the environment never sees it. The
return is mapped into [0, 1] by the range that META or the class declares as return_range, and verify is the return it gave
unless the class verifies by itself.
"""

import math

from .canonical import canonical, decode
from .faults import Malformed, kind, shape
from .functional import parts
from .objects import Objects
from .sha import sha256

MAX_LISTED = 64
MAX_NUMBERS = 4096
DEFAULT_STEPS = 200


class Gymnasium(Objects):
    """One episode of a gymnasium.Env."""

    keys = ("return_range",)

    def __init__(self, namespace, rng, source):
        super().__init__(namespace, rng, source)
        self.transcript = b""
        self.given = 0.0
        self.raw = 0.0

    @classmethod
    def meta(cls, namespace):
        env = cls.find(namespace)
        meta = getattr(env, "META", None) or namespace.get("META")
        if meta is None:
            meta = {"title": env.__name__, "kind": "game", "max_steps": DEFAULT_STEPS}
            declared = getattr(env, "return_range", None)
            if declared is not None:
                meta["return_range"] = list(declared)
        return meta

    @staticmethod
    def range(meta):
        declared = meta.get("return_range", [0, 1])
        ok = isinstance(declared, (list, tuple)) and len(declared) == 2
        ok = ok and all(isinstance(n, (int, float)) and not isinstance(n, bool) for n in declared)
        if not ok or not declared[0] < declared[1]:
            raise shape("META return_range must be two numbers, the smaller one first")
        try:
            low, high = float(declared[0]), float(declared[1])
        except OverflowError:
            low, high = -math.inf, math.inf
        if not 0 < high - low < math.inf:  # two large integers may be the same number, too
            raise shape("META return_range must be two finite numbers with a finite span between them")
        return low, high

    def create(self):
        instance = self.find(self.namespace)()
        spaces = instance.observation_space, instance.action_space
        for space in spaces:
            supported(space)
        return instance

    def begin(self, seed):
        self.seed = seed
        self.instance = self.call(0, self.create)
        observation, info = parts("reset", self.call(0, lambda: self.instance.reset(seed=seed)), 2)
        shown = self.call(0, render, self.instance.observation_space, observation)
        told = self.call(0, self.tell, info)
        self.record(shown, 0.0, False, False)
        return shown, told

    def play(self, action):
        step = self.steps + 1
        last = step >= self.meta_read.max_steps
        value, problem = self.call(step, self.read, action)
        if problem is not None:
            shown, reward, terminated, truncated, told = self.refuse(problem) + (self.call(step, self.tell, {}),)
        else:
            value = parts("step", self.call(step, self.instance.step, value), 5)
            observation, reward, terminated, truncated, info = value
            shown = self.call(step, render, self.instance.observation_space, observation)
            reward = self.call(step, float, reward)
            terminated, truncated = self.call(step, bool, terminated), self.call(step, bool, truncated)
            # A wrapper that counts steps says both at once when the last one comes to the end; that is an end.
            truncated = truncated and not terminated
            told = self.call(step, self.tell, info)
        self.raw += reward
        paid = self.mapped(reward, terminated or truncated or last)
        self.record(shown, reward, terminated, truncated)
        return shown, paid, terminated, truncated, told

    def mapped(self, reward, ends):
        """The part of the mapped return that this step pays. The last step pays what the shift of the range owes."""
        low, high = self.meta_read.range
        if ends:
            return (self.raw - low) / (high - low) - self.given
        paid = reward / (high - low)
        self.given += paid
        return paid

    def refuse(self, problem):
        return "That is no action: %s. Nothing happened. An action is %s." % (problem, describe(self.instance.action_space)), 0.0, False, False

    def read(self, action):
        """The action that a text spells, or what is wrong with it."""
        space = self.instance.action_space
        try:
            value = parse(space, action)
        except (ValueError, TypeError, OverflowError, KeyError) as error:
            return None, str(error)[:200] or "it cannot be read"
        if not space.contains(value):
            return None, "it is outside of what is allowed"
        return value, None

    def tell(self, info):
        """What of info is JSON, and the legal actions where they are few."""
        told = {}
        for name, value in info.items() if isinstance(info, dict) else ():
            try:
                told[str(name)] = canonical(simple(value))[2]
            except Malformed:
                continue  # the agent does not see it anyway
        listed = told.get("actions")
        if not isinstance(listed, list) or not all(isinstance(action, str) for action in listed):
            told.pop("actions", None)  # it means something else there
        space = self.instance.action_space
        if sort(space) == "Discrete" and int(space.n) <= MAX_LISTED and "actions" not in told:
            start, mask = int(space.start), told.get("action_mask")
            if not isinstance(mask, list) or len(mask) != int(space.n):
                mask = None
            told["actions"] = [str(start + i) for i in range(int(space.n)) if mask is None or mask[i]]
        return told

    def record(self, shown, reward, terminated, truncated):
        """The state of an environment that has no state() is what it said so far and where its generator is."""
        said = "%s\n%r %r %r" % (shown, reward, terminated, truncated)
        self.transcript = sha256(self.transcript + said.encode("utf-8", "replace")).digest()
        self.take("the state")

    def current(self, what):
        if callable(getattr(type(self.instance), "state", None)):
            return super().current(what)
        generator = getattr(self.instance.unwrapped, "_np_random", None)
        where = simple(generator.bit_generator.state) if generator is not None else None
        return canonical({"generator": where, "transcript": self.transcript.hex()}, self.limit, 1)[:2]

    def silence(self, name):
        if name == "verify":
            low, high = self.meta_read.range
            return (self.raw - low) / (high - low)
        return super().silence(name)


SORTS = ("Text", "Discrete", "MultiDiscrete", "MultiBinary", "Box", "Tuple", "Dict")


def sort(space):
    """Which of the spaces that have a rendering it is."""
    for base in type(space).__mro__:
        if base.__name__ in SORTS:
            return base.__name__
    return kind(space)


def supported(space):
    """Refuses spaces that have no rendering."""
    name = sort(space)
    if name == "Tuple":
        for part in space.spaces:
            supported(part)
    elif name == "Dict":
        for part in space.spaces.values():
            supported(part)
    elif name == "Box":
        if size_of(space.shape) > MAX_NUMBERS:
            raise ValueError("a Box of %d numbers is too large to be text" % size_of(space.shape))
    elif name not in SORTS:
        raise ValueError("a space of type %s cannot be text" % name)


def size_of(dimensions):
    size = 1
    for n in dimensions:
        size *= int(n)
    return size


def render(space, value):
    """The text of an observation."""
    if sort(space) == "Text" or isinstance(value, str):
        return str(value)
    return canonical(simple(value))[0]


def simple(value):
    """The JSON value of what numpy and gymnasium make."""
    if isinstance(value, dict):
        return {str(k): simple(v) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [simple(v) for v in value]
    module = type(value).__module__.partition(".")[0]
    if module == "numpy":
        if getattr(value, "dtype", None) is not None and str(value.dtype) in ("float32", "float16"):
            return short_floats(value)
        if hasattr(value, "tolist"):
            return value.tolist()
    return value


def short_floats(value):
    """The shortest numbers that read back as the same small floats, and not the digits of the nearest large ones."""
    if value.shape == ():
        return float(str(value))
    return [short_floats(part) for part in value]


def describe(space):
    """What an action of the space looks like."""
    name = sort(space)
    if name == "Discrete":
        return "a whole number from %d to %d" % (int(space.start), int(space.start) + int(space.n) - 1)
    if name == "Text":
        return "a text of %d to %d characters" % (space.min_length, space.max_length)
    if name == "MultiDiscrete":
        return "a JSON list of whole numbers, each from 0 to below %s" % space.nvec.tolist()
    if name == "MultiBinary":
        return "a JSON list of 0 and 1 of shape %s" % (list(space.shape),)
    if name == "Box":
        return "a JSON list of numbers of shape %s" % (list(space.shape),)
    if name == "Tuple":
        return "a JSON list of %d values" % len(space.spaces)
    return "a JSON object with " + ", ".join(str(k) for k in space.spaces)


def parse(space, text):
    """The element of a space that a text spells. ValueError says why there is none."""
    if sort(space) == "Text":
        return text
    try:
        value = decode(text.strip())
    except ValueError:
        raise ValueError("it is not %s" % describe(space)) from None
    return element(space, value)


def element(space, value):
    import numpy

    name = sort(space)
    if name == "Text":
        return value
    if name == "Discrete":
        return numpy.int64(whole(value))
    if name in ("MultiDiscrete", "MultiBinary", "Box"):
        if name != "Box":
            whole_all(value)
        array = numpy.asarray(value, dtype=space.dtype)
        if array.shape != space.shape:
            raise ValueError("its shape is %s and not %s" % (list(array.shape), list(space.shape)))
        return array
    if name == "Tuple":
        if not isinstance(value, list) or len(value) != len(space.spaces):
            raise ValueError("it is no list of %d values" % len(space.spaces))
        return tuple(element(part, v) for part, v in zip(space.spaces, value))
    if not isinstance(value, dict) or set(value) != {str(k) for k in space.spaces}:
        raise ValueError("it is no object with these keys")
    return {key: element(part, value[str(key)]) for key, part in space.spaces.items()}


def whole(value):
    if not isinstance(value, int) or isinstance(value, bool):
        raise ValueError("it is no whole number")
    return value


def whole_all(value):
    if isinstance(value, list):
        for item in value:
            whole_all(item)
    else:
        whole(value)
