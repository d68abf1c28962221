"""Batches: every call is answered in order, in one frame or in several."""

import unittest

from spade_worker import wire
from spade_worker.episodes import FLUSH_BYTES, Player
from spade_worker.load import load
from spade_worker.serve import Limits

SOURCE = b'''
import time

META = {"title": "Batch", "kind": "game", "max_steps": 1000}


def reset(seed):
    return 0, "x" * (seed % 1000000), {}


def step(state, action):
    if action == "sleep":
        time.sleep(0.06)
    return state + 1, "x" * (250_000 if action == "long" else 3), 0.0, action == "end", False, {}


def hint(state):
    return ""


def verify(state):
    return 0
'''


class Frames:
    """Keeps what is sent."""

    def __init__(self):
        self.sent = []

    def send(self, kind, body):
        self.sent.append((kind, body))


class TestBatches(unittest.TestCase):
    def setUp(self):
        limits = Limits(256 << 10, 64 << 10, 1 << 20, 64 << 10, 1 << 20)
        source, answer = load(SOURCE, limits, None, [])
        self.assertIsNotNone(source, answer)
        self.player = Player(source, limits, None)

    def resets(self, episodes, careful=False, seed=1):
        frames = Frames()
        calls = [wire.uint(e) + wire.uint(seed) + b"\0\0" for e in episodes]
        self.player.resets(frames, bytes([careful]) + b"".join(calls))
        return frames.sent

    def actions(self, calls, careful=False):
        frames = Frames()
        body = b"".join(wire.uint(e) + wire.string(text) for e, text in calls)
        self.player.actions(frames, bytes([careful]) + body)
        return frames.sent

    def told(self, sent):
        """The numbers of the episodes that were answered, frame by frame."""
        return [[answer[0] for answer in stepped(body)] for _, body in sent]

    def test_one_frame(self):
        episodes = [0, 5, 127, 128, 300, 2**31 - 1]
        self.assertEqual([kind for kind, _ in self.resets(episodes)], [wire.LAST])
        sent = self.actions([(e, "go") for e in episodes])
        self.assertEqual([kind for kind, _ in sent], [wire.LAST])
        self.assertEqual(self.told(sent), [episodes])

    def test_careful(self):
        sent = self.resets([0, 1, 2], careful=True)
        self.assertEqual([kind for kind, _ in sent], [wire.RESULTS, wire.RESULTS, wire.LAST])
        sent = self.actions([(2, "go"), (0, "go"), (1, "go")], careful=True)
        self.assertEqual([kind for kind, _ in sent], [wire.RESULTS, wire.RESULTS, wire.LAST])
        self.assertEqual(self.told(sent), [[2], [0], [1]])

    def test_large_answers(self):
        self.resets(range(5))
        sent = self.actions([(e, "long") for e in range(5)])
        self.assertEqual(self.told(sent), [[0, 1], [2, 3], [4]])
        self.assertLess(max(len(body) for _, body in sent), FLUSH_BYTES + 260_000)
        sent = self.resets(range(10, 14), seed=200_000)
        self.assertEqual([kind for kind, _ in sent], [wire.RESULTS, wire.LAST])

    def test_slow_answers(self):
        self.resets(range(3))
        sent = self.actions([(e, "sleep") for e in range(3)])
        self.assertEqual(self.told(sent), [[0], [1], [2]])

    def test_episodes_that_are_not_open(self):
        self.resets([0, 1, 2])
        self.actions([(0, "end")])
        self.player.drop(1)
        answers = stepped(self.actions([(0, "go"), (1, "go"), (2, "go"), (3, "go")])[0][1])
        self.assertEqual([outcome for _, outcome in answers], ["env_error", "env_error", "", "env_error"])
        self.resets([0, 2])
        answers = stepped(self.actions([(0, "go"), (2, "go")])[0][1])
        self.assertEqual([outcome for _, outcome in answers], ["", ""])

    def test_long_actions(self):
        self.resets([0, 1])
        answers = stepped(self.actions([(0, "x" * 1000), (1, "é" * 70_000)])[0][1])
        self.assertEqual([outcome for _, outcome in answers], ["", ""])

    def test_cut_bodies(self):
        self.resets([0])
        whole = b"\0" + wire.uint(0) + wire.string("é" * 100)
        for n in range(2, len(whole)):
            with self.assertRaises(wire.Broken):
                self.player.actions(Frames(), whole[:n])
        with self.assertRaises(wire.Broken):
            self.player.actions(Frames(), b"\0\0\1\xff")


def stepped(data):
    """The episode and outcome of each answer to an action."""
    body, out = wire.Body(data), []
    while body.more():
        episode = body.uint()
        body.string(), body.string()
        for _ in range(body.uint()):
            body.string()
        body.at += 18
        body.string()
        if body.flag():
            body.at += 8
        outcome = body.string()
        if outcome:
            body.string(), body.string()
        out.append((episode, outcome))
    return out


if __name__ == "__main__":
    unittest.main()
