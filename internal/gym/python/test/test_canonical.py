"""The fast path of canonical JSON never differs from the exact one."""

import collections
import enum
import random
import unittest

from spade_worker import canonical
from spade_worker.faults import ENCODING, LIMIT, SHAPE, Malformed


def exact(value, limit=canonical.MAX_TEXT, reserved=0):
    path = canonical.Exact(limit, reserved)
    copy = path.value(value, 0)
    text = "".join(path.parts)
    if len(text.encode()) + reserved > limit:
        raise canonical.too_large(limit)
    return text, copy


def outcome(function, *arguments):
    try:
        return function(*arguments)
    except Malformed as error:
        return error.cause


def value(rand, depth):
    leaves = (
        None,
        True,
        False,
        0,
        -1,
        10**20,
        10**999,
        10**1000,
        0.0,
        -0.0,
        1e16,
        1e-5,
        0.1,
        float("inf"),
        "",
        "é",
        '"\\\n\0\x7f\u2028😀',
        "\ud800",
        (),
        b"",
        1j,
    )
    pick = rand.random()
    if depth == 0 or pick < 0.4:
        return leaves[min(int(rand.expovariate(0.25)), len(leaves) - 1)]
    size = rand.randrange(4)
    if pick < 0.6:
        return [value(rand, depth - 1) for _ in range(size)]
    if pick < 0.65:
        return tuple(value(rand, depth - 1) for _ in range(size))
    keys = ["a", "b", "é", "", "\uffff", "😀", "a" * 50]
    if rand.random() < 0.03:
        keys = [1, None, True, "1", 1.5, "\udfff"]
    return {rand.choice(keys): value(rand, depth - 1) for _ in range(size)}


class Number(enum.IntEnum):
    ONE = 1


class Text(str):
    pass


class TestPaths(unittest.TestCase):
    def same(self, v, *arguments):
        fast, slow = outcome(canonical.canonical, v, *arguments), outcome(exact, v, *arguments)
        if isinstance(fast, tuple):
            text, data, copy = fast
            self.assertEqual(data, text.encode())
            fast = text, copy
        self.assertEqual(fast, slow)
        if isinstance(fast, tuple):
            self.assertEqual(repr(fast[1]), repr(slow[1]))
        return fast

    def test_random_values(self):
        rand = random.Random(5)
        seen = collections.Counter()
        for _ in range(30_000):
            got = self.same(value(rand, rand.randrange(5)))
            seen[got if isinstance(got, str) else "text"] += 1
        self.assertGreater(min(seen[k] for k in ("text", SHAPE, ENCODING)), 100, seen)

    def test_limits(self):
        rand = random.Random(6)
        for _ in range(3000):
            self.same(value(rand, 3), rand.randrange(60), rand.randrange(2))
        self.assertEqual(self.same("x" * 100, 101), LIMIT)
        self.assertIsInstance(self.same("x" * 100, 102), tuple)
        self.assertEqual(self.same("é" * 100, 201), LIMIT)

    def test_depth(self):
        for inner in ([], {}, 1, "x" * 200):
            for wrap in (lambda v: [v], lambda v: {"a": v}, lambda v: (v,), lambda v: [1, {"b": [v, 2]}]):
                v = inner
                for _ in range(70):
                    v = wrap(v)
                    self.same(v)

    def test_brackets_in_texts(self):
        wide = [[i] for i in range(100)]
        for inner in ("]", "[", '"]', "\\]", '\\"]', "{}", "[]", '""', "]" * 200, "9" * 1001, 10**999, -(10**999), 10**1000, [10**1000]):
            for depth in (1, 2, 31, 32, 33, 40, 62, 63, 64, 65, 66):
                v = [inner, wide]
                for i in range(depth):
                    v = [inner, v] if i % 2 else {inner if isinstance(inner, str) else "k": v}
                self.same(v)
            self.same(inner)

    def test_subclasses(self):
        ordered = collections.OrderedDict(b=1, a=Number.ONE)
        self.assertEqual(self.same([ordered, Text("é"), Number.ONE])[0], '[{"a":1,"b":1},"é",1]')
        self.assertEqual(self.same(collections.Counter("aab"))[0], '{"a":2,"b":1}')
        self.assertEqual(self.same(collections.namedtuple("P", "x y")(1, 2))[0], "[1,2]")
        self.assertEqual(self.same({Text("a"): 1})[0], '{"a":1}')

    def test_order_of_keys(self):
        got = self.same({"b": 1, "a": {"d": 1, "c": 2}})
        self.assertEqual(list(got[1]), ["a", "b"])
        self.assertEqual(list(got[1]["a"]), ["c", "d"])


if __name__ == "__main__":
    unittest.main()
