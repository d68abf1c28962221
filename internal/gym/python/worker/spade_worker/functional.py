"""The functional form: functions over a state of JSON values, see episode.go and judge.go.

The state between two calls is the copy that canonical JSON gives, so nothing that a function keeps a reference to can
change it.
"""

from .canonical import SHORT, UNBOUNDED, canonical, doubtful, dump, scan
from .faults import MUTATION, Fault, Malformed, about, kind, shape
from .sha import hexdigest


class Functional:
    """One episode of a source in the functional form."""

    keys = ()
    solves = False  # set by check, for a worker loads one source

    __slots__ = ("rng", "state", "text", "steps", "total", "hash", "limit", "short", "reporter", "functions", "call_step", "around", "seed")

    def __init__(self, namespace, rng, source):
        self.rng = rng
        self.reporter = source.reporter
        self.functions = namespace
        self.call_step = namespace["step"]
        self.around = source.around
        self.limit = source.limits.state
        self.short = min(SHORT, self.limit // 4)  # characters that are within the limit whatever they are
        self.steps = 0
        self.total = 0.0
        self.hash = ""

    @classmethod
    def check(cls, namespace):
        for name in ("reset", "step", "hint", "verify", "solve"):
            if name not in namespace:
                if name != "solve":
                    raise shape("there is no function " + name)
            elif not callable(namespace[name]):
                raise shape("%s is a %s, want a function" % (name, kind(namespace[name])))
        cls.solves = "solve" in namespace

    @staticmethod
    def meta(namespace):
        if "META" not in namespace:
            raise shape("there is no META")
        return namespace["META"]

    @staticmethod
    def range(meta):
        return None

    def begin(self, seed):
        """Starts the episode: observation and info, and the state taken."""
        self.seed = seed
        rng = self.rng
        rng.active = True
        try:
            if self.around is not None:
                self.around.call(seed, 0)
            value = self.functions["reset"](seed)
        except BaseException as error:
            raise self.reporter.fault(error) from None
        finally:
            rng.active = False
        state, observation, info = parts("reset", value, 3)
        self.take("the state of reset", state)
        return observation, info

    def play(self, action):
        """Plays an action: observation, reward, terminated, truncated, info, and the state taken."""
        rng = self.rng
        rng.active = True
        try:
            if self.around is not None:
                self.around.call(self.seed, self.steps + 1)
            value = self.call_step(self.state, action)
        except BaseException as error:
            raise self.reporter.fault(error) from None
        finally:
            rng.active = False
        if type(value) is not tuple or len(value) != 6:
            value = parts("step", value, 6)
        state, observation, reward, terminated, truncated, info = value
        try:  # as take does, for the usual state
            text = "".join(dump(state, 0))
            copy = scan(text, 0)[0]
            if copy == state:
                data = text.encode()
                if len(text) < self.short or len(data) < self.limit and not doubtful(data, copy):
                    self.state, self.text = copy, text
                    self.hash = hexdigest(b"[%b,%d]" % (data, rng.draws))
                    return observation, reward, terminated, truncated, info
        except BaseException:
            pass
        self.take("the state of step", state)
        return observation, reward, terminated, truncated, info

    def take(self, what, state):
        """Makes a value the state. Its hash is over the value and the number of random draws so far."""
        try:
            self.text, data, self.state = canonical(state, self.limit, 1)
        except Malformed as error:
            raise about(what, error) from None
        except BaseException as error:  # code of the environment in its own types
            raise self.reporter.fault(error) from None
        self.hash = hexdigest(b"[%b,%d]" % (data, self.rng.draws))

    def ask(self, name):
        """What a function says of the state that must leave it alone. It gets a copy."""
        copy = canonical(self.state, UNBOUNDED)[2]
        try:
            if self.around is not None:
                self.around.call(self.seed, -1)
            value = self.functions[name](copy)
        except BaseException as error:
            raise self.reporter.fault(error) from None
        try:
            same = canonical(copy, UNBOUNDED)[0] == self.text
        except BaseException:
            same = False
        if not same:
            raise Fault(MUTATION, name + " changed the state")
        return value


def parts(what, value, n):
    """Checks that a return value has n parts."""
    if not isinstance(value, (tuple, list)):
        raise about(what, shape("returned a %s, want %d values" % (kind(value), n)))
    if len(value) != n:
        raise about(what, shape("returned %d values, want %d" % (len(value), n)))
    return value
