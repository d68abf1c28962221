"""What may be declared of a gymnasium.Env."""

import math
import unittest

from spade_worker.faults import Malformed
from spade_worker.spaces import Gymnasium


class Range(unittest.TestCase):
    def test_the_span_is_a_number(self):
        for declared in [
            (-1e308, 1e308),
            (-math.inf, 0),
            (0, math.inf),
            (0, math.nan),
            (math.nan, 1),
            (0, 10**400),
            (-(10**400), 0),
            (2**53, 2**53 + 1),
            (1, 0),
            (0, 0),
            (False, True),
            (0, "1"),
            (0, 1, 2),
        ]:
            with self.subTest(declared=declared), self.assertRaises(Malformed):
                Gymnasium.range({"return_range": declared})

    def test_what_is_a_range(self):
        for declared in [(-1, 1), [0, 0.5], (-8e307, 8e307), (0, 5e-324)]:
            with self.subTest(declared=declared):
                self.assertEqual(Gymnasium.range({"return_range": declared}), tuple(map(float, declared)))
        self.assertEqual(Gymnasium.range({}), (0.0, 1.0))


if __name__ == "__main__":
    unittest.main()
