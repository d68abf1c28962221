"""What an environment must not depend on, changed or made to repeat itself, so that the acceptance gate can name what it
depends on."""

import os
import sys
import time

from .sha import sha256

STOPPED_NS = 1_600_000_000_123_456_789


def change_clock(shift_ns, freeze):
    """Moves the wall clock by so many nanoseconds, or stops it at the same moment in every process. The monotonic clocks
    stay as they are."""
    real_ns = time.time_ns
    if freeze:
        stopped = STOPPED_NS

        def now_ns():
            return stopped + shift_ns
    else:

        def now_ns():
            return real_ns() + shift_ns

    def now():
        return now_ns() / 1e9

    def defaulting(function):
        def replaced(secs=None, /):
            return function(now() if secs is None else secs)

        return replaced

    localtime, gmtime, ctime = (defaulting(f) for f in (time.localtime, time.gmtime, time.ctime))
    strftime, asctime = time.strftime, time.asctime
    clock_gettime, clock_gettime_ns = time.clock_gettime, time.clock_gettime_ns
    real_time = time.CLOCK_REALTIME
    time.time, time.time_ns = now, now_ns
    time.localtime, time.gmtime, time.ctime = localtime, gmtime, ctime
    time.strftime = lambda format, t=None, /: strftime(format, localtime() if t is None else t)
    time.asctime = lambda t=None, /: asctime(localtime() if t is None else t)
    time.clock_gettime = lambda clock, /: now() if clock == real_time else clock_gettime(clock)
    time.clock_gettime_ns = lambda clock, /: now_ns() if clock == real_time else clock_gettime_ns(clock)
    change_datetime(now)


def change_datetime(now):
    import datetime

    class Date(type):
        """Instances of the classes that were there before count as instances."""

        def __instancecheck__(cls, instance):
            return isinstance(instance, cls.__mro__[1])

        def __subclasscheck__(cls, other):
            return issubclass(other, cls.__mro__[1])

    class date(datetime.date, metaclass=Date):
        @classmethod
        def today(cls):
            return cls.fromtimestamp(now())

    class moment(datetime.datetime, metaclass=Date):
        @classmethod
        def now(cls, tz=None):
            return cls.fromtimestamp(now(), tz)

        @classmethod
        def utcnow(cls):
            return cls.fromtimestamp(now(), datetime.timezone.utc).replace(tzinfo=None)

        @classmethod
        def today(cls):
            return cls.fromtimestamp(now())

    for replaced, name in ((date, "date"), (moment, "datetime")):
        replaced.__name__ = replaced.__qualname__ = name
        replaced.__module__ = "datetime"
        setattr(datetime, name, replaced)


class Globals:
    """Seeds the process-global generators before each call of the environment, by the episode's seed and how far it is, so
    that what uses them repeats itself whichever episodes are played beside it."""

    def __init__(self):
        self.words = 0
        self.key = b""
        os.urandom = self.urandom
        import random

        random._urandom = self.urandom

    def urandom(self, size):
        out = b""
        while len(out) < size:
            self.words += 1
            out += sha256(self.key + self.words.to_bytes(8, "big")).digest()
        return out[:size]

    def call(self, seed, step):
        self.key = sha256(b"spade/globals/1" + seed.to_bytes(8, "big") + (step + 1).to_bytes(8, "big")).digest()
        self.words = 0
        number = int.from_bytes(self.key[:4], "big")
        random = sys.modules.get("random")
        if random is not None:
            random.seed(number)
        numpy_random = sys.modules.get("numpy.random")
        if numpy_random is not None:
            numpy_random.seed(number)
