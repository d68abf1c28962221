"""The worker's modules against the vectors in schemas/vectors, which other implementations made."""

import json
import os
import unittest

from spade_worker import canonical
from spade_worker.data import json as json_module
from spade_worker.mathematics import math as math_module
from spade_worker.rng import Rng
from spade_worker.text import text as text_module

VECTORS = os.path.join(os.path.dirname(__file__), "../../../../schemas/vectors")


def vectors(name):
    with open(os.path.join(VECTORS, name), encoding="utf-8") as file:
        return json.load(file)


class TestVectors(unittest.TestCase):
    def test_generator(self):
        for vector in vectors("rng.json")["environments"]:
            rng = Rng(int(vector["seed"]))
            rng.active = True
            self.assertEqual([str(rng._next()) for _ in range(4)], vector["uint64"])
            self.assertEqual([rng.random() for _ in range(4)], vector["random"])
            for draw in vector["randint"]:
                self.assertEqual(str(rng.randint(int(draw["lo"]), int(draw["hi"]))), draw["value"])
            self.assertEqual([rng.choice(["a", "b", "c"]) for _ in range(6)], vector["choice"])
            self.assertEqual(rng.shuffled(list(range(10))), vector["shuffled"])
            self.assertEqual(rng.sample(list(range(20)), 5), vector["sample"])
            self.assertEqual(rng.draws, vector["draws"])

    def test_canonical(self):
        cases = vectors("canonical.json")
        self.assertGreater(len(cases), 500)
        for case in cases:
            try:
                value = canonical.decode(case["text"])
            except ValueError:
                self.assertIsNone(case["canonical"], case["text"][:60])
                continue
            self.assertEqual(canonical.canonical(value)[0], case["canonical"], case["text"][:60])

    def test_modules(self):
        names = {"text": text_module, "json": json_module, "math": math_module, "len": len}
        tried = set()
        for expression, want in vectors("modules.json")["cases"]:
            tried.add(expression.partition("(")[0])
            try:
                got = canonical.canonical(eval(expression, dict(names)))[0]
            except Exception:
                got = None
            self.assertEqual(got, want, expression)
        for name in ("text", "json", "math"):
            for member in vars(names[name]):
                self.assertIn(name + "." + member, tried)


if __name__ == "__main__":
    unittest.main()
