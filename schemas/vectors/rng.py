"""Reference implementation of SPADE's random streams, and the source of rng.json.

    python3 schemas/vectors/rng.py > schemas/vectors/rng.json

It shares no code with internal/seed, so the two check each other. Where numpy is installed it also checks the
generator against numpy.random.PCG64.
"""

import hashlib
import json

MASK = (1 << 128) - 1
MUL = 0x2360ED051FC65DA44385DF649FCCF645


def field(data):
    return len(data).to_bytes(4, "big") + data


def integer(value):
    return field((value % (1 << 64)).to_bytes(8, "big"))


def stream_digest(run, purpose="", iteration=0, slot=0, attempt=0, arm="", index=0):
    return hashlib.sha256(
        field(b"spade/stream/1")
        + integer(run)
        + field(purpose.encode())
        + integer(iteration)
        + integer(slot)
        + integer(attempt)
        + field(arm.encode())
        + integer(index)
    ).digest()


def env_digest(seed):
    return hashlib.sha256(field(b"spade/env/1") + integer(seed)).digest()


class Rand:
    def __init__(self, digest):
        self.inc = (int.from_bytes(digest[16:], "big") << 1 | 1) & MASK
        self.state = 0
        self.draws = 0
        self._step()
        self.state = (self.state + int.from_bytes(digest[:16], "big")) & MASK
        self._step()

    def _step(self):
        self.state = (self.state * MUL + self.inc) & MASK

    def uint64(self):
        self.draws += 1
        self._step()
        word = (self.state >> 64) ^ (self.state & (1 << 64) - 1)
        turn = self.state >> 122
        return (word >> turn | word << (64 - turn)) & (1 << 64) - 1

    def random(self):
        return (self.uint64() >> 11) * 2.0**-53

    def up_to(self, n):
        if n == 0:
            return 0
        mask = (1 << n.bit_length()) - 1
        while True:
            value = self.uint64() & mask
            if value <= n:
                return value

    def randint(self, lo, hi):
        return lo + self.up_to(hi - lo)

    def choice(self, items):
        return items[self.up_to(len(items) - 1)]

    def shuffled(self, items):
        items = list(items)
        for i in range(len(items) - 1, 0, -1):
            j = self.up_to(i)
            items[i], items[j] = items[j], items[i]
        return items

    def sample(self, items, k):
        items = list(items)
        for i in range(k):
            j = i + self.up_to(len(items) - 1 - i)
            items[i], items[j] = items[j], items[i]
        return items[:k]


def exercise(rand):
    """One call of each kind, in this order, with the number of draws after it."""
    out = {"uint64": [str(rand.uint64()) for _ in range(4)]}
    out["random"] = [rand.random() for _ in range(4)]
    ranges = [(1, 6), (-5, 5), (0, 0), (0, 2**62), (-(2**63), 2**63 - 1), (7, 1000000)]
    out["randint"] = [{"lo": str(a), "hi": str(b), "value": str(rand.randint(a, b))} for a, b in ranges]
    out["choice"] = [rand.choice(["a", "b", "c"]) for _ in range(6)]
    out["shuffled"] = rand.shuffled(list(range(10)))
    out["sample"] = rand.sample(list(range(20)), 5)
    out["draws"] = rand.draws
    return out


def check_numpy(digest):
    try:
        from numpy.random import PCG64
    except ImportError:
        return
    ours = Rand(digest)
    theirs = PCG64(0)
    state = theirs.state
    state["state"] = {"state": ours.state, "inc": ours.inc}
    theirs.state = state
    assert [ours.uint64() for _ in range(100)] == theirs.random_raw(100).tolist()


def main():
    streams = []
    for run, key in [
        (0, {}),
        (1, {"purpose": "designer.documents", "iteration": 3, "slot": 5}),
        (42, {"purpose": "rollout", "iteration": 1, "slot": 2, "attempt": 1, "arm": "hinted", "index": 7}),
        (2**64 - 1, {"purpose": "größe", "arm": "plain", "index": -1}),
        (7, {"purpose": "ab", "arm": "c"}),
        (7, {"purpose": "a", "arm": "bc"}),
    ]:
        digest = stream_digest(run, **key)
        check_numpy(digest)
        streams.append(
            {
                "run": str(run),
                "key": key,
                "derived": str(int.from_bytes(digest[:8], "big")),
                **exercise(Rand(digest)),
            }
        )
    envs = []
    for seed in [0, 1, 12345, 2**63, 2**64 - 1]:
        check_numpy(env_digest(seed))
        envs.append({"seed": str(seed), **exercise(Rand(env_digest(seed)))})
    print(json.dumps({"streams": streams, "environments": envs}, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main()
