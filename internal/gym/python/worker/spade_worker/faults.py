"""What can go wrong with an environment, and how it is told."""

ONGOING = ""
SOLVED = "solved"
FAILED = "failed"
ENV_ERROR = "env_error"
VERIFIER_ERROR = "verifier_error"
OVERLONG = "overlong"
TEXT_ENCODING = "text_encoding"

EXCEPTION = "exception"
RECURSION = "recursion"
MEMORY = "memory"
PROTOCOL = "protocol"
SHAPE = "shape"
REWARD = "reward"
LIMIT = "limit"
ENCODING = "encoding"
MUTATION = "mutation"
MISMATCH = "mismatch"

FILENAME = "env.py"
ADAPTERS = __file__.rpartition("/")[0].rpartition("/")[0] + "/spade_pools"
MAX_ERROR = 4 << 10
MAX_FRAMES = 20


class Fault(Exception):
    """A fault with its outcome and cause; the names are those of the Go package wire."""

    def __init__(self, cause, text, outcome=ENV_ERROR):
        super().__init__(text)
        self.outcome = outcome
        self.cause = cause
        self.text = text


class Malformed(Exception):
    """A value that the environment returned and that is not what it must be: cause and text of the fault to come."""

    def __init__(self, cause, text):
        super().__init__(text)
        self.cause = cause
        self.text = text


def shape(text):
    return Malformed(SHAPE, text)


def about(what, malformed):
    """The fault that a malformed value named what is."""
    outcome = TEXT_ENCODING if malformed.cause == ENCODING else ENV_ERROR
    return Fault(malformed.cause, what + ": " + malformed.text, outcome)


def kind(value):
    """The name of a value's type, whatever the type tries to be."""
    try:
        return str(type.__dict__["__name__"].__get__(type(value)))
    except BaseException:
        return "value"


def trim(text):
    """Valid UTF-8, and the head and the tail of a long text: the head says where, the tail says what."""
    data = text.encode("utf-8", "replace")
    if len(data) <= MAX_ERROR:
        return data.decode("utf-8")
    half = MAX_ERROR // 2 - 8
    return data[:half].decode("utf-8", "ignore") + "\n…\n" + data[-half:].decode("utf-8", "ignore")


def own_frames(trace, keep):
    """The frames of a traceback that are the environment's own, innermost last."""
    frames = []
    while trace is not None:
        name = trace.tb_frame.f_code.co_filename
        shown = keep(name)
        if shown:
            frames.append((shown, trace.tb_lineno, trace.tb_frame.f_code.co_name))
        trace = trace.tb_next
    return frames


def describe(error):
    """The last line of a traceback. The text of an exception may be code of the environment that fails in turn."""
    name = kind(error)
    try:
        text = str(error)
    except BaseException:
        return name + ": <its text raises an exception>"
    return name + ": " + without_addresses(text) if text else name


def without_addresses(text):
    """The text of an exception is part of events, which must not differ from one process to the next."""
    first, *rest = text.split(" at 0x")
    return first + "".join([" at 0x…" + part.lstrip("0123456789abcdef") for part in rest])


class Reporter:
    """Turns exceptions of the environment into faults. Lines are those of its source; packages are folders whose frames are
    part of the environment too, and with them the adapters that it reaches them by."""

    def __init__(self, source, packages=()):
        self.lines = source.split("\n")
        folders = list(packages) + [ADAPTERS] if packages else []
        self.packages = tuple(folder.rstrip("/") + "/" for folder in folders)

    def keep(self, name):
        if name == FILENAME:
            return name
        for folder in self.packages:
            if name.startswith(folder):
                return name[len(folder) :]
        return None

    def traceback(self, error):
        out = []
        try:
            frames = own_frames(error.__traceback__, self.keep)
            for name, line, function in frames[: MAX_FRAMES // 2] + frames[MAX_FRAMES // 2 :][-MAX_FRAMES // 2 :]:
                out.append('  File "%s", line %d, in %s\n' % (name, line, function))
                if name == FILENAME and 0 < line <= len(self.lines):
                    out.append("    " + self.lines[line - 1].strip()[:200] + "\n")
            if out:
                out.insert(0, "Traceback (most recent call last):\n")
        except BaseException:
            pass
        return "".join(out) + describe(error)

    def fault(self, error):
        """The fault that an exception of the environment is."""
        if isinstance(error, MemoryError):
            cause = MEMORY
        elif isinstance(error, RecursionError):
            cause = RECURSION
        else:
            cause = EXCEPTION
        try:
            text = trim(self.traceback(error))
        except BaseException:
            text = "an exception that cannot be told"
        return Fault(cause, text)
