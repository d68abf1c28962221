"""Frames and fields: what is cut or wrong is refused, whatever the pieces it arrives in."""

import random
import unittest

from spade_worker import wire

NONCE = bytes(range(16))


def frame(kind, body, nonce=NONCE):
    return len(body).to_bytes(4, "big") + nonce + bytes([kind]) + body


class Stream:
    """Reads a text in pieces and keeps what is written, a few bytes at a time."""

    def __init__(self, data, rand=None):
        self.data, self.rand, self.out = data, rand, b""

    def read(self, fd, size):
        if self.rand is not None:
            size = min(size, self.rand.randrange(1, 40))
        chunk, self.data = self.data[:size], self.data[size:]
        return chunk

    def write(self, fd, data):
        data = data[:7]
        self.out += data
        return len(data)

    def pipe(self, nonce=NONCE):
        return wire.Pipe(0, 1, self.read, self.write, nonce)


class TestFrames(unittest.TestCase):
    def test_pieces(self):
        rand = random.Random(1)
        bodies = [b"", b"a", b"b" * 300, b"c" * 5000, b"d"]
        data = b"".join(frame(i + 1, body) for i, body in enumerate(bodies))
        for _ in range(50):
            pipe = Stream(data, rand).pipe()
            for i, body in enumerate(bodies):
                self.assertEqual(pipe.next(), (i + 1, body))
            self.assertIsNone(pipe.next())

    def test_refuses(self):
        whole = frame(4, b"abc")
        for data in (whole[:1], whole[:-1], whole[:20], frame(4, b"abc", b"x" * 16), b"\xff" * 40):
            with self.assertRaises(wire.Broken):
                Stream(data).pipe().next()

    def test_first_nonce_counts(self):
        pipe = Stream(frame(1, b"") + frame(4, b"", b"x" * 16)).pipe(None)
        pipe.next()
        self.assertEqual(pipe.nonce, NONCE)
        with self.assertRaises(wire.Broken):
            pipe.next()

    def test_short_writes(self):
        stream = Stream(b"")
        stream.pipe().send(9, b"x" * 100)
        self.assertEqual(stream.out, frame(9, b"x" * 100))


class TestFields(unittest.TestCase):
    def test_numbers(self):
        for n in (0, 1, 127, 128, 300, 2**31, 2**63, 2**64 - 1):
            body = wire.Body(wire.uint(n) + b"\1")
            self.assertEqual((body.uint(), body.flag()), (n, True))
            self.assertFalse(body.more())

    def test_cut(self):
        whole = wire.string("é" * 100)
        self.assertEqual(wire.Body(whole).string(), "é" * 100)
        for n in range(len(whole)):
            with self.assertRaises(wire.Broken):
                wire.Body(whole[:n]).string()
        for data in (b"\xff" * 20, b"\2\xff\xff"):
            with self.assertRaises(wire.Broken):
                wire.Body(data).string()


if __name__ == "__main__":
    unittest.main()
