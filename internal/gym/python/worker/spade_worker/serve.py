"""The worker's life: take its descriptors away from the environment, answer frames until the input ends.

The first frame is a hello, whose nonce marks all that follow. The only argument is JSON: layers (the sandbox layers in force,
told in the answer that it is ready), packages (a folder of installed packages, or empty), clock_shift_ns, freeze_clock and
seed_globals (see surroundings.py).
"""

import gc
import os
import sys

from . import wire
from .canonical import decode
from .episodes import Player
from .load import load

EXIT_DONE = 0
EXIT_PROTOCOL = 65
EXIT_MEMORY = 66  # the platform takes it for the memory limit, whatever was printed

RESULT_FD = 3
OUT_OF_THE_WAY = 10

# How many container objects may pile up before the collector looks at the young ones. Most environments make no cycles.
COLLECT_AFTER = 50_000


def main(loads=1):
    """Serves, and ends the process. A worker loads one source in its life."""
    try:
        code = run(sys.argv[1] if len(sys.argv) > 1 else "{}", loads)
    except wire.Broken as error:
        code = EXIT_PROTOCOL
        tell(str(error))
    except MemoryError:  # the worker's own code had none left, or the environment reached into it
        code = EXIT_MEMORY
    except BaseException as error:  # the environment reached into the worker
        code = EXIT_PROTOCOL
        tell("the worker failed: " + type(error).__name__)
    leave(code)


leave = os._exit  # without waiting for threads, finalisers or exit functions of the environment


def tell(text, write=os.write):
    try:
        write(2, (text + "\n").encode("utf-8", "replace"))
    except (OSError, MemoryError):
        pass


def run(argument, loads):
    options = decode(argument)
    pipe = descriptors()
    kind, _ = pipe.next() or (None, None)
    if kind != wire.HELLO:
        raise wire.Broken("no hello")
    around = surround(options)
    packages = [options["packages"]] if options.get("packages") else []
    sys.path.extend(packages)
    sys.setrecursionlimit(RECURSION)
    gc.set_threshold(COLLECT_AFTER, 20, 20)
    pipe.send(wire.READY, wire.uint(options.get("layers", 0)))
    return serve(pipe, around, packages, loads)


# How deep calls may nest. It is what Python allows unless told otherwise; packages count on it.
RECURSION = 1000


def descriptors():
    """Moves the protocol's descriptors away from where the environment's input and output are. Input is at its end."""
    read_fd = os.dup2(0, OUT_OF_THE_WAY, inheritable=False)
    write_fd = os.dup2(RESULT_FD, OUT_OF_THE_WAY + 1, inheritable=False)
    os.close(RESULT_FD)
    empty, end = os.pipe()
    os.close(end)
    os.dup2(empty, 0)
    os.close(empty)
    return wire.Pipe(read_fd, write_fd, os.read, os.write)


def surround(options):
    """Takes away what the process was started with, and changes what the options say. Returns the seeder of the
    process-global generators, or None."""
    forget()
    shift, freeze = options.get("clock_shift_ns", 0), options.get("freeze_clock", False)
    seed_globals = options.get("seed_globals", False)
    if not (shift or freeze or seed_globals):
        return None
    from . import surroundings

    if shift or freeze:
        surroundings.change_clock(shift, freeze)
    return surroundings.Globals() if seed_globals else None


# What libraries of numbers ask how many threads to start when they are imported, which is one for each core of the machine
# unless they are told. Their stacks alone would be more memory than a worker has, and their number would show in the last
# digits of sums.
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")


def forget():
    """The environment variables and arguments are the platform's. The C library keeps the time zone and the locale."""
    os.environ._data.clear()
    sys.modules["posix"].environ.clear()
    for name in THREADS:
        os.putenv(name, "1")
    sys.argv = [""]
    sys.orig_argv = [""]
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="backslashreplace")


def serve(pipe, around, packages, loads):
    player = None
    while True:
        frame = pipe.next()
        if frame is None:
            return EXIT_DONE
        kind, data = frame
        if sys.gettrace() is not None or sys.getprofile() is not None:
            sys.settrace(None)
            sys.setprofile(None)
        if kind == wire.LOAD:
            loads -= 1
            if loads < 0:
                raise wire.Broken("a load too many")
            player = answer_load(pipe, data, around, packages)
        elif kind == wire.ACTIONS and player is not None:
            player.actions(pipe, data)
        elif kind == wire.RESETS and player is not None:
            player.resets(pipe, data)
        elif kind == wire.DROP:
            body = wire.Body(data)
            while body.more():
                episode = body.uint()
                if player is not None:
                    player.drop(episode)
            pipe.send(wire.LAST, b"")
        elif kind == wire.PROBE:
            from .probe import probe

            pipe.send(wire.PROBED, wire.string(", ".join(probe())))
        else:
            raise wire.Broken("message kind %d" % kind)


def answer_load(pipe, data, around, packages):
    body = wire.Body(data)
    runtime = body.string()
    if runtime != "python":
        raise wire.Broken("runtime " + runtime)
    code = body.blob()
    body.uint(), body.uint(), body.uint()  # steps and depth, which are Starlark's
    limits = Limits(body.uint(), body.uint(), body.uint(), body.uint(), body.uint())
    source, answer = load(code, limits, around, packages)
    pipe.send(wire.LOADED, answer)
    if source is None:
        return None
    gc.collect()
    gc.freeze()
    return Player(source, limits, around)


class Limits:
    """Bytes, each for one text; state is the canonical JSON of one episode's state."""

    __slots__ = ("observation", "info", "action", "hint", "state")

    def __init__(self, observation, info, action, hint, state):
        self.observation, self.info, self.action, self.hint, self.state = observation, info, action, hint, state
