"""The episodes that are being played, and the judgement when they end, see episode.go and judge.go."""

from _struct import Struct
from time import monotonic

from . import wire
from .canonical import canonical, dump
from .faults import (
    ENCODING,
    FAILED,
    LIMIT,
    MISMATCH,
    OVERLONG,
    PROTOCOL,
    REWARD,
    SHAPE,
    SOLVED,
    VERIFIER_ERROR,
    Fault,
    Malformed,
    about,
    kind,
    shape,
)

# How far a return may be from a score and still be equal to it, and how far outside [0, 1] it may lie.
TOLERANCE = 1e-6

# Answers are sent before a batch is through when they have grown to this many bytes or the batch has taken this many
# seconds, so that the platform's deadline is one for the single call and not for the batch.
FLUSH_BYTES = 256 << 10
FLUSH_AFTER = 0.05

# How many characters of a text that is too long are looked at in one go.
PIECE = 64 << 10

EMPTY_INFO = wire.string("{}") + b"\0"
NO_INFO = b"\0\0"
ONGOING_TAIL = b"\0\0"  # no verdict, no fault
numbers = Struct("<dd??").pack
HASH_SIZE = wire.uint(64)


class Ended:
    """How an episode ended that was played to its end."""

    __slots__ = ("outcome", "cause", "text")

    def __init__(self, outcome):
        self.outcome, self.cause, self.text = outcome, "", ""


class Player:
    """Plays the episodes of one source."""

    def __init__(self, source, limits, around):
        self.source, self.limits, self.around = source, limits, around
        self.max_steps = source.meta.max_steps
        self.games = {}
        # Most environments list the same actions every time.
        self.last_info = self.last_text = None
        self.last_encoded = b""

    def drop(self, episode):
        self.games.pop(episode, None)

    def resets(self, pipe, data):
        body = wire.Body(data)
        out = Answers(pipe, body.flag())
        while body.more():
            episode, seed, want_hint, want_solve = body.uint(), body.uint(), body.flag(), body.flag()
            out.add(self.reset(episode, seed, want_hint, want_solve), body.more())
        out.last()

    def actions(self, pipe, data):
        out, games, clock = [], self.games, monotonic
        careful, at, size, end, began = data[0] == 1, 1, 0, len(data), monotonic()
        try:
            while at < end:
                episode = data[at]
                at += 1
                if episode >= 0x80:
                    episode, at = varint(data, at - 1)
                length = data[at]
                at += 1
                if length >= 0x80:
                    length, at = varint(data, at - 1)
                action = data[at : at + length]
                at += length
                if at > end:
                    raise wire.Broken("cut text")
                answer = self.step(episode, games.get(episode), action)
                out.append(answer)
                size += len(answer)
                if at < end and (careful or size >= FLUSH_BYTES or clock() - began >= FLUSH_AFTER):
                    pipe.send(wire.RESULTS, b"".join(out))
                    out.clear()
                    size, began = 0, clock()
        except IndexError:
            raise wire.Broken("cut number") from None
        pipe.send(wire.LAST, b"".join(out))

    def reset(self, episode, seed, want_hint, want_solve):
        """Starts an episode; one of the same number is replaced."""
        observation, info, hint, solution, hashed, fault = b"\0", NO_INFO, b"\0", b"\0", "", None
        try:
            game = self.source.game(seed)
            try:
                shown, told = game.begin(seed)
            finally:
                hashed = game.hash
            observation, info = self.shown("reset", shown, told)
            if want_hint:
                hint = wire.blob(plain("the hint", game.ask("hint"), self.limits.hint))
            if want_solve and self.source.meta.has_solve:
                solution = texts("the solution", game.ask("solve"), self.limits.action)
            self.games[episode] = game
        except Fault as error:
            fault = error
        return b"".join(
            (wire.uint(episode), observation, info, hint, solution, wire.string(hashed), wire.fault(fault))
        )

    def step(self, episode, game, action):
        """Plays one action, given as bytes, and returns the answer. An episode that ends is forgotten."""
        number = wire.SMALL[episode] if episode < 0x80 else wire.uint(episode)
        if game is None:
            return broken(number, 0.0, Fault(PROTOCOL, "no such episode is open"))
        if len(action) > self.limits.action:
            del self.games[episode]
            text = "an action of %d bytes, %d allowed" % (len(action), self.limits.action)
            return broken(number, 0.0, Fault(LIMIT, text, OVERLONG))
        shown, info, reward, terminated, truncated, hashed = b"\0", NO_INFO, 0.0, False, False, b"\0"
        total = game.total
        tail = ONGOING_TAIL
        try:
            observation, paid, ends, cut, told = game.play(action.decode())
            hashed = HASH_SIZE + game.hash.encode()
            if not told and type(told) is dict and type(observation) is str and len(observation) < 128 and observation.isascii():
                data = observation.encode()
                shown, info = wire.SMALL[len(data)] + data, EMPTY_INFO
                if len(data) > self.limits.observation:
                    shown, info = self.shown("step", observation, told)
            else:
                shown, info = self.shown("step", observation, told)
            if type(paid) is not float or paid - paid != 0:
                paid = number_of("the reward of step", "is", paid)
            reward = paid
            if type(ends) is not bool or type(cut) is not bool:
                text = "terminated and truncated of step are %s and %s, want bools" % (kind(ends), kind(cut))
                raise Fault(SHAPE, text)
            terminated, truncated = ends, cut
            game.steps += 1
            total = game.total = game.total + reward
            if game.steps >= self.max_steps and not terminated:
                truncated = True
            if terminated or truncated:
                del self.games[episode]
                tail = self.finish(game, total, terminated)
        except Fault as fault:
            self.games.pop(episode, None)
            tail = b"\0" + wire.fault(fault)
        except UnicodeDecodeError:
            raise wire.Broken("text that is not UTF-8") from None
        return b"".join((number, shown, info, numbers(reward, total, terminated, truncated), hashed, tail))

    def shown(self, what, observation, info):
        """Checks what the agent and the platform get to see, and encodes it."""
        seen = wire.blob(plain("the observation of " + what, observation, self.limits.observation))
        if type(info) is dict:
            if not info:
                return seen, EMPTY_INFO
            try:
                if self.last_info == info and "".join(dump(info, 0)) == self.last_text:
                    return seen, self.last_encoded
            except BaseException:
                pass  # the whole way decides
        elif not isinstance(info, dict):
            raise Fault(SHAPE, "the info of %s is a %s, want a dictionary" % (what, kind(info)))
        try:
            text, data, copy = canonical(info, self.limits.info)
        except Malformed as error:
            raise about("the info of " + what, error) from None
        except BaseException as error:  # code of the environment in its own types
            raise self.source.reporter.fault(error) from None
        encoded = wire.blob(data)
        if "actions" in info:
            encoded += texts('info["actions"] of ' + what, info["actions"], self.limits.action)
        else:
            encoded += b"\0"
        self.last_text, self.last_info, self.last_encoded = text, copy, encoded
        return seen, encoded

    def finish(self, game, total, terminated):
        """Judges an episode that ended. It is solved when it terminated with a return of 1; truncation is never a solution."""
        if not -TOLERANCE <= total <= 1 + TOLERANCE:
            fault = Fault(REWARD, "the rewards add up to %r, outside [0, 1]" % total)
            return b"\0" + wire.fault(fault)
        try:
            score = number_of("verify", "returned", game.ask("verify"))
            if not -TOLERANCE <= score <= 1 + TOLERANCE:
                raise Fault(REWARD, "verify returned %r, outside [0, 1]" % score)
        except Fault as fault:
            fault.outcome = VERIFIER_ERROR
            return b"\0" + wire.fault(fault)
        verdict = b"\1" + wire.pack_float(score)
        if terminated and abs(total - score) > TOLERANCE:
            text = "the rewards add up to %r and verify says %r" % (total, score)
            return verdict + wire.fault(Fault(MISMATCH, text, VERIFIER_ERROR))
        return verdict + wire.fault(Ended(SOLVED if terminated and total >= 1 - TOLERANCE else FAILED))


def broken(number, total, fault):
    """The answer to an action that was not played."""
    return b"".join((number, b"\0", NO_INFO, numbers(0.0, total, False, False), b"\0\0", wire.fault(fault)))


def varint(data, at):
    body = wire.Body(data)
    body.at = at
    return body.uint(), body.at


def number_of(what, verb, value):
    """A finite number; a bool is none."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise Fault(SHAPE, "%s %s a %s, want a number" % (what, verb, kind(value)))
    try:
        value = int.__float__(value) if isinstance(value, int) else float.__float__(value)
    except OverflowError:
        value = float("inf")
    if value - value != 0:
        raise Fault(REWARD, "%s %s %r" % (what, verb, value))
    return value


def plain(what, value, limit):
    """The bytes of a text that the environment returned."""
    if not isinstance(value, str):
        raise Fault(SHAPE, "%s: is a %s, want a string" % (what, kind(value)))
    if str.__len__(value) > limit:  # there may be no memory for its bytes
        raise too_long(what, size_of(value), limit)
    try:
        data = str.encode(value)
    except UnicodeEncodeError:
        raise about(what, Malformed(ENCODING, "text that is not UTF-8")) from None
    if len(data) > limit:
        raise too_long(what, len(data), limit)
    return data


def size_of(value):
    """How many bytes a text has in UTF-8, found without having them all at once."""
    length = str.__len__(value)
    if str.isascii(value):
        return length
    pieces = (str.__getitem__(value, slice(at, at + PIECE)) for at in range(0, length, PIECE))
    return sum(len(str.encode(piece, "utf-8", "surrogatepass")) for piece in pieces)


def too_long(what, size, limit):
    return Fault(LIMIT, "%s: has %d bytes: over the size limit of %d" % (what, size, limit))


def texts(what, value, limit):
    """The encoded list of texts of at most limit bytes together."""
    if not isinstance(value, (list, tuple, range)):
        raise about(what, shape("is a %s, want a list of strings" % kind(value)))
    out, size = [], 0
    for i, item in enumerate(value):
        data = plain("%s: entry %d" % (what, i), item, limit)
        size += len(data) + 1
        if size > limit:
            raise about(what, Malformed(LIMIT, "over the size limit of %d bytes" % limit))
        out.append(wire.blob(data))
    return wire.uint(len(out)) + b"".join(out)


class Answers:
    """The answers to a batch, sent when there are enough of them. Careful means a frame for every answer, so that the
    platform knows which call a death belongs to."""

    def __init__(self, pipe, careful):
        self.pipe, self.careful = pipe, careful
        self.out, self.size, self.began = [], 0, monotonic()

    def add(self, answer, more):
        self.out.append(answer)
        self.size += len(answer)
        if more and (self.careful or self.size >= FLUSH_BYTES or monotonic() - self.began >= FLUSH_AFTER):
            self.pipe.send(wire.RESULTS, b"".join(self.out))
            self.out.clear()
            self.size, self.began = 0, monotonic()

    def last(self):
        self.pipe.send(wire.LAST, b"".join(self.out))


