"""The generator of an episode, see package seed and module_rng.go: PCG64 seeded by SHA-256 of the environment's seed."""

from .arguments import need_int64, need_list
from .sha import sha256

MASK = (1 << 128) - 1
WORD = (1 << 64) - 1
MULTIPLIER = 0x2360ED051FC65DA44385DF649FCCF645
DOMAIN = b"\0\0\0\x0bspade/env/1\0\0\0\x08"


class Rng:
    """Bound to one episode. It answers in reset and step only; draws counts the 64-bit words that were taken."""

    __slots__ = ("active", "draws", "_seed", "_state", "_increment")

    def __init__(self, seed):
        self.active = False
        self.draws = 0
        self._seed = seed
        self._state = None

    def _begin(self):
        digest = sha256(DOMAIN + self._seed.to_bytes(8, "big")).digest()
        self._increment = (int.from_bytes(digest[16:], "big") << 1 | 1) & MASK
        state = (self._increment + int.from_bytes(digest[:16], "big")) & MASK
        self._state = (state * MULTIPLIER + self._increment) & MASK

    def _next(self):
        if not self.active:
            raise RuntimeError("no randomness here: rng may be used in reset and step only")
        if self._state is None:
            self._begin()
        self.draws += 1
        state = self._state = (self._state * MULTIPLIER + self._increment) & MASK
        word = (state >> 64) ^ (state & WORD)
        turn = state >> 122
        return (word >> turn | word << (64 - turn)) & WORD

    def _up_to(self, n):
        if n == 0:
            self._check()
            return 0
        mask = (1 << n.bit_length()) - 1
        while True:
            value = self._next() & mask
            if value <= n:
                return value

    def _check(self):
        if not self.active:
            raise RuntimeError("no randomness here: rng may be used in reset and step only")

    def random(self, /):
        return (self._next() >> 11) * 2.0**-53

    def randint(self, lo, hi, /):
        if need_int64(lo) > need_int64(hi):
            raise ValueError("the lower bound is above the upper one")
        return lo + self._up_to(hi - lo)

    def choice(self, items, /):
        if not need_list(items):
            raise ValueError("nothing to choose from")
        return items[self._up_to(len(items) - 1)]

    def shuffled(self, items, /):
        items = list(need_list(items))
        self._check()
        for i in range(len(items) - 1, 0, -1):
            j = self._up_to(i)
            items[i], items[j] = items[j], items[i]
        return items

    def sample(self, items, k, /):
        items = list(need_list(items))
        if not 0 <= need_int64(k) <= len(items):
            raise ValueError("more elements wanted than there are")
        self._check()
        for i in range(k):
            j = i + self._up_to(len(items) - 1 - i)
            items[i], items[j] = items[j], items[i]
        return items[:k]
