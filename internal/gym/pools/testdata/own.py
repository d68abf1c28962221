"""Tests of what the adapters bring along themselves; nothing of a package is needed. Run by python_test.go."""

import itertools
import random
import sys
import unittest

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv.pop(1))

from spade_pools import base, inert, reasoning_words, satisfy, trees  # noqa: E402


class Satisfy(unittest.TestCase):
    def test_finds_what_trying_everything_finds(self):
        draw = random.Random(1)
        for _ in range(300):
            top = draw.randint(1, 6)
            clauses = [
                [draw.choice((1, -1)) * draw.randint(1, top) for _ in range(draw.randint(1, 3))]
                for _ in range(draw.randint(1, 14))
            ]
            variables = sorted({abs(literal) for clause in clauses for literal in clause})
            want = set()
            for signs in itertools.product((1, -1), repeat=len(variables)):
                values = {v: s for v, s in zip(variables, signs)}
                if all(any(values[abs(x)] == (1 if x > 0 else -1) for x in clause) for clause in clauses):
                    want.add(tuple(v * s for v, s in zip(variables, signs)))
            found = [tuple(solution) for solution in satisfy.itersolve(clauses)]
            self.assertEqual(sorted(want), sorted(found), clauses)
        self.assertEqual(satisfy.solve([[1], [-1]]), "UNSAT")
        self.assertEqual(list(satisfy.itersolve([[1], []])), [])


class Trees(unittest.TestCase):
    @staticmethod
    def node(text):
        return trees.Node(text[0], [Trees.node(part) for part in text[1:]])

    def test_known_distances(self):
        def cost(a, b):
            return 0 if a == b else 1

        f = ("f", ("d", ("a",), ("c", ("b",))), ("e",))
        g = ("f", ("c", ("d", ("a",), ("b",))), ("e",))
        for left, right, want in ((f, g, 2), (f, f, 0), (("a",), ("b",), 1), (("a", ("b",)), ("a",), 1)):
            self.assertEqual(trees.simple_distance(self.node(left), self.node(right), label_dist=cost), want)


class Base(unittest.TestCase):
    def test_fold(self):
        self.assertEqual([base.fold(seed, (3, 5)) for seed in (3, 5, 6, 2**64 - 1)], [3, 5, 3, 3])
        self.assertTrue(all(3 <= base.fold(seed, (3, 5)) <= 5 for seed in range(20)))

    def test_plain_is_json_and_the_same_for_any_order_of_a_set(self):
        class Thing:
            def __init__(self):
                self.me, self.tags, self.big = self, {"b", "a"}, 2**70

        self.assertEqual(base.plain(Thing()), {"class": "Thing", "fields": {
            "me": "Thing", "tags": ["a", "b"], "big": str(2**70)}})
        self.assertEqual(base.plain({(1, 2): (float("inf"), b"\xff")}), {"[1, 2]": ["inf", "\xff"]})

    def test_unit_refuses_what_is_no_score(self):
        self.assertEqual([base.unit(x) for x in (-1, 0.25, 2)], [0.0, 0.25, 1.0])
        for bad in (float("nan"), float("inf"), "high", None):
            self.assertRaises((base.PoolError, ValueError, TypeError), base.unit, bad)

    def test_generators_keep_episodes_apart(self):
        def draws(seed, others):
            mine, theirs, seen = base.Generators(seed), base.Generators(seed + 1), []
            for _ in range(5):
                with mine:
                    seen.append(random.random())
                if others:
                    with theirs:
                        random.random()
                    random.random()
            return seen

        random.seed(9)
        before = random.getstate()
        self.assertEqual(draws(7, False), draws(7, True))
        random.setstate(before)
        with base.Generators(1):
            random.seed(3)
        self.assertEqual(before, random.getstate())

    def test_veil(self):
        told = base.veil("[Alice home] then [1 2]", "Where is alice? She went up.")
        self.assertEqual(told, "[A-l-i-c-e home] then [1 2]")
        self.assertEqual(base.veil("go down", "down or up", ["down"]), "go down")


class Words(unittest.TestCase):
    def test_holds(self):
        words = reasoning_words.words
        for question, answer, want in (
            ("Sort: pear fig", "fig pear", True), ("How many legs?", "184", False), ("is it so?", "no it is", False),
            ("1 2 3 4 5 6 7 8 9 1 2 3 4", "0 1 2 3 4 5 6 7 8 9 1 2 3 4", True),
        ):
            self.assertEqual(reasoning_words.holds(words(question), words(answer)), want, question)


class Inert(unittest.TestCase):
    def test_what_a_scorer_may_evaluate(self):
        for name, answer, want in (
            ("countdown", "(3 + 4) * 2 - 1/5", True), ("countdown", "__import__('os')", False), ("countdown", "open(1)", False),
            ("puzzle24", "6 / (1 - 3 / 4)", True), ("puzzle24", "(lambda: 1)()", False), ("puzzle24", "1 .real", False),
            ("simple_integration", "3*x**2/2 + sin(x) + C", True), ("simple_integration", "x.__class__", False),
            ("simple_integration", "x[0]", False), ("polynomial_multiplication", "2*y**2 - 3*y", True),
            ("polynomial_multiplication", "exec", False), ("polynomial_multiplication", "f'{1}'", False),
            ("spiral_matrix", "[1, 2, 3]", True), ("spiral_matrix", "1 2 3", True), ("spiral_matrix", "print(1)", False),
            ("binary_matrix", "[[0, 1], [1, 0]]", True), ("n_queens", "_ Q\nQ _", True), ("n_queens", "[1][0]()", False),
            ("string_insertion", "['A', 'B']", True), ("string_insertion", "ABCD", True), ("string_insertion", "A.B", False),
            ("leg_counting", "print(1)", True),  # its scorer evaluates nothing
        ):
            self.assertEqual(inert.inert(name, answer), want, (name, answer))


unittest.main(argv=["own"])
