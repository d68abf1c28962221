"""The class form: a class Env with META, reset, step and, as it likes, hint, verify, solve and state."""

import sys

from .canonical import canonical
from .faults import MUTATION, SHAPE, Fault, Malformed, about, kind, shape
from .functional import parts
from .sha import hexdigest


def form(namespace):
    """The form of a source that has no functions reset and step."""
    base = gymnasium_base()
    env = namespace.get("Env")
    if not isinstance(env, type):
        env = None
    if base is not None and (env is None or env is base):
        env = only_class(namespace, base)
    if env is None:
        raise shape("there is no function reset, and no class Env")
    if base is not None and issubclass(env, base):
        from .spaces import Gymnasium

        return Gymnasium.of(env)
    return Objects.of(env)


def gymnasium_base():
    module = sys.modules.get("gymnasium")
    return getattr(module, "Env", None)


def only_class(namespace, base):
    """The one class of the source that is an environment of gymnasium."""
    own = [v for v in namespace.values() if isinstance(v, type) and issubclass(v, base) and v.__module__ == "env"]
    # A base class of another one of them is a part of it.
    own = [c for c in own if not any(c is not other and issubclass(other, c) for other in own)]
    if len(own) > 1:
        raise shape("there are several environments: " + ", ".join(c.__name__ for c in own) + "; name one Env")
    return own[0] if own else None


class Objects:
    """One episode of a class Env."""

    keys = ()
    solves = False
    env = None

    def __init__(self, namespace, rng, source):
        self.rng = rng
        self.reporter = source.reporter
        self.limit = source.limits.state
        self.around = source.around
        self.meta_read = source.meta
        self.namespace = namespace
        self.instance = None
        self.steps = 0
        self.total = 0.0
        self.hash = ""
        self.text = ""
        self.seed = 0

    @classmethod
    def of(cls, env):
        for name in ("reset", "step"):
            if not callable(getattr(env, name, None)):
                raise shape("class %s has no method %s" % (env.__name__, name))
        cls.env = env.__name__
        cls.solves = callable(getattr(env, "solve", None))
        return cls

    @classmethod
    def meta(cls, namespace):
        meta = getattr(cls.find(namespace), "META", None)
        if meta is None:
            meta = namespace.get("META")
        if meta is None:
            raise shape("there is no META")
        return meta

    @classmethod
    def find(cls, namespace):
        """The class in the namespace of one episode. It may have another name there than the one it was given."""
        env = namespace.get("Env")
        if isinstance(env, type) and env.__name__ == cls.env:
            return env
        return namespace[cls.env]

    @staticmethod
    def range(meta):
        return None

    def call(self, step, function, *arguments):
        """Calls code of the environment in which it may draw random numbers."""
        rng = self.rng
        rng.active = True
        try:
            if self.around is not None:
                self.around.call(self.seed, step)
            return function(*arguments)
        except BaseException as error:
            raise self.reporter.fault(error) from None
        finally:
            rng.active = False

    def create(self):
        env = self.find(self.namespace)
        instance = env.__new__(env)
        try:
            instance.rng = self.rng
        except AttributeError:
            pass  # a class with slots of its own has no room for it
        instance.__init__()
        return instance

    def begin(self, seed):
        self.seed = seed
        self.instance = self.call(0, self.create)
        observation, info = parts("reset", self.call(0, self.instance.reset, seed), 2)
        self.take("the state of reset")
        return observation, info

    def play(self, action):
        value = self.call(self.steps + 1, self.instance.step, action)
        observation, reward, terminated, truncated, info = parts("step", value, 5)
        self.take("the state of step")
        return observation, reward, terminated, truncated, info

    def take(self, what):
        self.text, data = self.current(what)
        self.hash = hexdigest(b"[%b,%d]" % (data, self.rng.draws))

    def current(self, what):
        """The canonical text of the state and its bytes."""
        own = callable(getattr(type(self.instance), "state", None))
        try:
            state = self.instance.state() if own else self.attributes()
        except BaseException as error:
            raise self.reporter.fault(error) from None
        try:
            return canonical(state, self.limit, 1)[:2]
        except Malformed as error:
            if error.cause == SHAPE and not own:
                error = shape(self.culprit(state) + "; keep what is not JSON out of the attributes, or write a method state()")
            raise about(what, error) from None
        except BaseException as error:  # code of the environment in its own types
            raise self.reporter.fault(error) from None

    def attributes(self):
        return {name: value for name, value in vars(self.instance).items() if name != "rng"}

    def culprit(self, state):
        """Which attribute is not JSON."""
        for name, value in state.items():
            try:
                canonical(value)
            except Malformed as error:
                if error.cause == SHAPE:
                    return "the attribute %s is %s" % (name, error.text)
        return "an attribute is not a JSON value"

    def ask(self, name):
        """What a method says of the state that it must leave alone."""
        method = getattr(self.instance, name, None)
        if not callable(method):
            return self.silence(name)
        before = self.text
        try:
            if self.around is not None:
                self.around.call(self.seed, -1)
            value = method()
        except BaseException as error:
            raise self.reporter.fault(error) from None
        try:
            same = self.current("the state")[0] == before
        except Fault:
            same = False
        if not same:
            raise Fault(MUTATION, name + " changed the state")
        return value

    def silence(self, name):
        """What a class says that has no such method: an absent hint tells nothing, an absent verdict is none."""
        if name == "hint":
            return ""
        raise Fault(SHAPE, "class %s has no method %s" % (kind(self.instance), name))
