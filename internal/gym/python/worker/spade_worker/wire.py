"""The frames and messages of package wire, see frame.go, encode.go and decode.go there.

A frame is the length of the body (4 bytes, big-endian), the nonce, the kind and the body. In bodies numbers are varints,
texts carry their length, floats are 8 bytes little-endian, flags one byte.
"""

from _struct import Struct

HELLO, READY, REFUSED, LOAD, LOADED, RESETS, ACTIONS, RESULTS, LAST, DROP, PROBE, PROBED = range(1, 13)

NONCE_SIZE = 16
HEADER_SIZE = 4 + NONCE_SIZE + 1
MAX_FRAME = 64 << 20

# What is asked for at first. The interpreter sets as much aside for every call, and much more than this costs it a mapping.
CHUNK = 32 << 10

float64 = Struct("<d")
pack_float = float64.pack


class Broken(Exception):
    """The peer does not follow the protocol."""


def uint(n):
    """A number as a varint."""
    if n < 0x80:
        return SMALL[n]
    out = bytearray()
    while n >= 0x80:
        out.append(n & 0x7F | 0x80)
        n >>= 7
    out.append(n)
    return bytes(out)


SMALL = [bytes((n,)) for n in range(0x80)]


def blob(data):
    return uint(len(data)) + data


def string(text):
    """A text, which must be encodable."""
    data = text.encode()
    return uint(len(data)) + data


def strings(texts):
    return uint(len(texts)) + b"".join([string(t) for t in texts])


def fault(f):
    """The fields of a fault, or of none."""
    if f is None:
        return b"\0"
    return string(f.outcome) + string(f.cause) + string(f.text)


class Body:
    """Reads the fields of a body."""

    __slots__ = ("data", "at")

    def __init__(self, data):
        self.data = data
        self.at = 0

    def more(self):
        return self.at < len(self.data)

    def uint(self):
        value = shift = 0
        while True:
            try:
                byte = self.data[self.at]
            except IndexError:
                raise Broken("cut number") from None
            self.at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7
            if shift > 63:
                raise Broken("bad number")

    def flag(self):
        return self.uint() == 1

    def blob(self):
        size = self.uint()
        start = self.at
        self.at = start + size
        if self.at > len(self.data):
            raise Broken("cut text")
        return self.data[start : self.at]

    def string(self):
        try:
            return self.blob().decode()
        except UnicodeDecodeError:
            raise Broken("text that is not UTF-8") from None


class Pipe:
    """Frames from one descriptor and to another. Read and write are those of the operating system, kept here because the
    environment may replace what it finds in modules."""

    def __init__(self, read_fd, write_fd, read, write, nonce=None):
        self.read_fd, self.write_fd = read_fd, write_fd
        self.read, self.write = read, write
        self.nonce = nonce
        self.rest = b""

    def next(self):
        """The kind and body of the next frame, or None at the end of the stream."""
        data = self.rest
        while len(data) < HEADER_SIZE:
            chunk = self.read(self.read_fd, CHUNK)
            if not chunk:
                if data:
                    raise Broken("stream ends inside a frame")
                return None
            data = data + chunk if data else chunk
        end = HEADER_SIZE + int.from_bytes(data[:4], "big")
        if end > MAX_FRAME + HEADER_SIZE:
            raise Broken("frame over the size limit")
        if len(data) < end:
            parts, size = [data], len(data)
            while size < end:
                chunk = self.read(self.read_fd, min(end - size, 2 * CHUNK))
                if not chunk:
                    raise Broken("stream ends inside a frame")
                parts.append(chunk)
                size += len(chunk)
            data = b"".join(parts)
        nonce = data[4 : HEADER_SIZE - 1]
        if self.nonce is None:
            self.nonce = nonce
        elif nonce != self.nonce:
            raise Broken("frame with a foreign nonce")
        self.rest = data[end:]
        return data[HEADER_SIZE - 1], data[HEADER_SIZE:end]

    def send(self, kind, body):
        frame = b"%b%b%c%b" % (len(body).to_bytes(4, "big"), self.nonce, kind, body)
        written = self.write(self.write_fd, frame)
        while written < len(frame):
            frame = frame[written:]
            written = self.write(self.write_fd, frame)
