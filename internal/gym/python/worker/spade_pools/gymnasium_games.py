"""What each Gymnasium environment looks like in words, what it pays, and how it is solved.

Pay: `goal` games pay 1 for the goal; `share` games pay each step its share of the limit; `span` games pay at the end
where the raw return lies between a declared floor and that of the best play of the same seed, and nothing to a play that
does not reach the end.
"""

import math
from collections import deque

DIRECTIONS = ("left", "down", "right", "up")


class Game:
    """One environment. The functions get the adapter's episode `e` or the package's environment `u`."""

    words = ()
    limit = 100
    rules = ""
    plan = None

    def tell(self, u):
        raise NotImplementedError

    def snapshot(self, u):
        """What the package's environment holds, as JSON values, and a function that puts it back."""
        raise NotImplementedError

    def pay(self, e, reward, terminated):
        return 0.0

    def settle(self, e, terminated):
        return 0.0

    def judge(self, e):
        raise NotImplementedError

    def hint(self, e):
        return "This way leads to the best result: " + ", then ".join(self.words[move] for move in e.plan()) + "."


class Table(Game):
    """A toy_text environment: a state number and a generator that each step draws from once."""

    def snapshot(self, u):
        state, generator = int(u.s), u.np_random.bit_generator.state

        def restore():
            u.s = state
            u.np_random.bit_generator.state = generator

        return state, restore

    def plan(self, u, limit):
        """The shortest play that ends the episode, by search. The draws of this seed are known to it."""
        start, restore = self.snapshot(u)
        queue, seen = deque([(restore, ())]), {(0, start)}
        while queue:
            restore, moves = queue.popleft()
            if len(moves) == limit:
                continue
            for move in range(len(self.words)):
                restore()
                _, reward, terminated, _, _ = u.step(move)
                if terminated and self.good(u, reward):
                    return list(moves + (move,))
                state, after = self.snapshot(u)
                # Each step draws once, so the generator is the same in all states that as many steps lead to.
                if not terminated and (len(moves) + 1, state) not in seen:
                    seen.add((len(moves) + 1, state))
                    queue.append((after, moves + (move,)))
        return []

    def good(self, u, reward):
        return reward > 0


class Span(Table):
    floor = -100.0

    def settle(self, e, terminated):
        return self._place(e, e.raw(), terminated)

    def judge(self, e):
        return self._place(e, *e.replay())

    def _place(self, e, raw, terminated):
        """Standing still costs nothing in the package, so that nothing is paid before the end is reached."""
        if not terminated:
            return 0.0
        return min(1.0, max(0.0, (raw - self.floor) / (e.best() - self.floor)))


class FrozenLake(Table):
    words = DIRECTIONS

    def __init__(self, limit):
        self.limit = limit

    def tell(self, u):
        rows = ["".join(cell.decode() for cell in row) for row in u.desc]
        row, column = divmod(int(u.s), u.ncol)
        return (
            "A frozen lake: S is the start, F is ice, H is a hole, G is the goal. The ice is slippery, so a move may slip "
            "to either side of where it aims. Reach G and avoid H.\n%s\nYou are at row %d, column %d (counted from 0), on %s."
            % ("\n".join(rows), row, column, rows[row][column])
        )

    def pay(self, e, reward, terminated):
        return reward

    def judge(self, e):
        u = e.inner()
        return 1.0 if u.desc[divmod(int(u.s), u.ncol)] == b"G" else 0.0


class CliffWalking(Span):
    words = ("up", "right", "down", "left")

    def __init__(self, slippery):
        self.slippery = slippery

    def tell(self, u):
        row, column = divmod(int(u.s), 12)
        grid = [["."] * 12 for _ in range(4)]
        grid[3] = ["S"] + ["C"] * 10 + ["G"]
        grid[row][column] = "x"
        slip = " The ground is slippery: a move may go to either side of where it aims." if self.slippery else ""
        return (
            "A grid with a cliff: S is the start, C the cliff, G the goal, x is you. Each move costs 1; a step into the cliff "
            "costs 100 and leads back to the start.%s\n%s" % (slip, "\n".join("".join(line) for line in grid))
        )

    def good(self, u, reward):
        return True  # it ends at the goal only


class Taxi(Span):
    words = ("south", "north", "east", "west", "pickup", "dropoff")
    limit = 200
    floor = -200.0

    def tell(self, u):
        row, column, passenger, destination = (int(part) for part in u.decode(int(u.s)))
        places = ("R (row 0, column 0)", "G (row 0, column 4)", "Y (row 4, column 0)", "B (row 4, column 3)", "in the taxi")
        walls = "\n".join("".join(cell.decode() for cell in line) for line in u.desc)
        return (
            "A taxi in a town of 5 by 5 squares; | is a wall. Pick the passenger up and drop the passenger off at the "
            "destination. Each move costs 1, a wrong pickup or dropoff 10, and a delivery earns 20.\n%s\nThe taxi is at row "
            "%d, column %d (counted from 0). The passenger is %s. The destination is %s."
            % (walls, row, column, places[passenger], places[destination])
        )


class Blackjack(Game):
    words = ("stick", "hit")
    limit = 25

    def tell(self, u):
        total, usable = self._count(u.player)
        return (
            "Blackjack against the dealer, who draws up to 17. Cards count 2 to 10, faces 10, an ace 1 or 11.\nYou hold %d%s. "
            "The dealer shows %s." % (total, " with an ace counted as 11" if usable else "", self._card(u.dealer[0]))
        )

    def snapshot(self, u):
        return [[int(card) for card in u.player], [int(card) for card in u.dealer]], None

    def settle(self, e, terminated):
        return (e.raw() + 1.0) / 2.0 if terminated else 0.0

    def judge(self, e):
        """The hands alone say who has won."""
        u = e.inner()
        if not e.state()["ended"]:
            return 0.0
        mine, dealers = self._count(u.player)[0], self._count(u.dealer)[0]
        if mine > 21:
            return 0.0
        if not self._dealer_done(u):
            return 0.0  # cut short
        if self._natural(u.player) and not self._natural(u.dealer):
            return 1.0
        dealers = 0 if dealers > 21 else dealers
        return 1.0 if mine > dealers else 0.5 if mine == dealers else 0.0

    def hint(self, e):
        u = e.inner()
        generator = u.np_random.bit_generator.state
        cards = [int(u.np_random.choice([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10])) for _ in range(4)]
        u.np_random.bit_generator.state = generator
        return "The dealer's hidden card is %s. The next cards of the deck are %s." % (
            self._card(u.dealer[1]), ", ".join(self._card(card) for card in cards))

    def _dealer_done(self, u):
        return self._count(u.dealer)[0] >= 17

    @staticmethod
    def _card(card):
        return "an ace" if card == 1 else str(int(card))

    @staticmethod
    def _natural(hand):
        return sorted(int(card) for card in hand) == [1, 10]

    @staticmethod
    def _count(hand):
        total = sum(int(card) for card in hand)
        usable = 1 in hand and total + 10 <= 21
        return total + 10 * usable, usable


class Control(Game):
    """A classic control task: numbers in, one of a few pushes out, solved by a rule of thumb on a copy."""

    def snapshot(self, u):
        return [float(part) for part in u.state], None

    def plan(self, u, limit):
        moves = []
        for _ in range(limit):
            move = self.rule([float(part) for part in u.state])
            moves.append(move)
            if u.step(move)[2]:
                break
        return moves

    def rule(self, state):
        raise NotImplementedError


class CartPole(Control):
    words = ("left", "right")

    def __init__(self, limit):
        self.limit = limit

    def tell(self, u):
        position, speed, angle, turn = (float(part) for part in u.state)
        return (
            "A pole stands on a cart. Push the cart left or right so that the pole stays within 12 degrees of upright and the "
            "cart within 2.4 of the middle.\nposition %.4f, speed %.4f, angle %.4f rad, angular speed %.4f"
            % (position, speed, angle, turn)
        )

    def pay(self, e, reward, terminated):
        return reward / self.limit

    def judge(self, e):
        return e.replay()[0] / self.limit

    def rule(self, state):
        position, speed, angle, turn = state
        return 1 if angle + 0.3 * turn + 0.03 * position + 0.06 * speed > 0 else 0

    def hint(self, e):
        return (
            "Push to the side that the pole falls to: right when the angle plus 0.3 times the angular speed, plus a little of "
            "position and speed, is above zero."
        )


class MountainCar(Control):
    words = ("left", "coast", "right")
    limit = 200

    def tell(self, u):
        position, speed = (float(part) for part in u.state)
        return (
            "A car in a valley whose engine is too weak for the hill. Reach position 0.5 on the right hill.\n"
            "position %.4f, speed %.5f" % (position, speed)
        )

    def settle(self, e, terminated):
        return 1.0 if terminated else 0.0

    def judge(self, e):
        position, speed = e.inner().state
        return 1.0 if position >= 0.5 and speed >= 0 else 0.0

    def rule(self, state):
        return 2 if state[1] >= 0 else 0

    def hint(self, e):
        return "Swing: push the way the car already rolls, and turn with it at each end, until it clears the top."


class Acrobot(Control):
    words = ("pull", "rest", "push")
    limit = 500

    def tell(self, u):
        first, second, turn, bend = (float(part) for part in u.state)
        return (
            "Two links hang from a bar; only the joint between them has a motor. Swing the free end above the bar by one link's "
            "length.\nfirst angle %.4f, second angle %.4f, their speeds %.4f and %.4f" % (first, second, turn, bend)
        )

    def settle(self, e, terminated):
        return 1.0 if terminated else 0.0

    def judge(self, e):
        first, second = (float(part) for part in e.inner().state[:2])
        return 1.0 if -math.cos(first) - math.cos(first + second) > 1.0 else 0.0

    def rule(self, state):
        return 2 if state[2] < 0 else 0

    def hint(self, e):
        return "Pump: apply the motor against the way the upper link turns, and switch whenever that turn changes its sign."


GAMES = {
    "FrozenLake-v1": FrozenLake(100),
    "FrozenLake8x8-v1": FrozenLake(200),
    "CliffWalking-v1": CliffWalking(False),
    "CliffWalkingSlippery-v1": CliffWalking(True),
    "Taxi-v4": Taxi(),
    "Blackjack-v1": Blackjack(),
    "CartPole-v0": CartPole(200),
    "CartPole-v1": CartPole(500),
    "MountainCar-v0": MountainCar(),
    "Acrobot-v1": Acrobot(),
}


def why_not(spec):
    """Why a registered environment has no adapter here."""
    if not isinstance(spec.entry_point, str):
        return "the package has withdrawn it"
    for part, reason in (
        ("box2d", "needs Box2D, which is not in the set: its observations are vectors or pictures, not text"),
        ("mujoco", "needs MuJoCo, which is not in the set: its observations are vectors, not text"),
        ("phys2d", "needs JAX, which is not in the set"),
        ("tabular", "needs JAX, which is not in the set"),
        ("continuous", "its actions are real numbers; the adapter takes discrete ones"),
        ("pendulum", "its actions are real numbers; the adapter takes discrete ones"),
    ):
        if part in spec.entry_point:
            return reason
    return "no adapter"
