# A treasure lies on a small map and the agent walks there. Made by `spade env new --kind game --runtime python --form class`.
#
# Try it, then change it to your own game:
#   spade env check FILE      does the gate accept it?
#   spade env play FILE       what does the agent see?
#
# This is Python with its standard library. `self.rng` is always there and the only source of randomness: an episode must
# be the same whenever its seed is, so there is no use for random, time or the order of a set. Each episode has an object
# of its own. Its attributes are the state and must be JSON; where they are not, write a method state() that returns what
# counts.

SIZE = 6

MOVES = {"north": (0, -1), "south": (0, 1), "west": (-1, 0), "east": (1, 0)}


class Env:
    # META says what the environment is. An episode is cut short after max_steps actions.
    META = {"title": "Walk to the treasure", "kind": "game", "max_steps": 12}

    def reset(self, seed):
        """Begins an episode. Returns what the agent sees first, and info.

        What info lists as actions, the agent may choose from; it may also say anything else.
        """
        # From one edge to the one across, so that who walks at random seldom arrives in time.
        edge = self.rng.choice([0, SIZE - 1])
        self.at = [edge, self.rng.randint(0, SIZE - 1)]
        self.goal = [SIZE - 1 - edge, self.rng.randint(0, SIZE - 1)]
        return self.show(), {"actions": list(MOVES)}

    def show(self):
        """What the agent sees: all that it needs to know what to do."""
        signs = {tuple(self.goal): "$", tuple(self.at): "@"}
        rows = [" ".join(signs.get((x, y), ".") for x in range(SIZE)) for y in range(SIZE)]
        return "\n".join(rows) + "\nYou are @, the treasure is $. North is up."

    def step(self, action):
        """Takes one action, which is any text: it must answer every text and must not fail.

        Returns what the agent sees next, the reward of this step, terminated (the game has come to its end), truncated
        (it was cut short; leave that to the platform) and info. The rewards of an episode add up to a return in [0, 1]; a
        return of 1 is solved.
        """
        by = MOVES.get(action, (0, 0))
        self.at = [min(max(at + d, 0), SIZE - 1) for at, d in zip(self.at, by)]
        return self.show(), self.verify(), self.at == self.goal, False, {"actions": list(MOVES)}

    def hint(self):
        """What a teacher would whisper. One half of the episodes is played with it: what it helps is what can be learnt.

        It must not be in the first observation.
        """
        moves = self.solve()
        counted = [f"{moves.count(move)} to the {move}" for move in MOVES if move in moves]
        return "Walk " + " and ".join(counted) + "."

    def verify(self):
        """Judges the state on its own, when the episode has ended: the score in [0, 1].

        Where the episode terminated it must be equal to the return.
        """
        return 1.0 if self.at == self.goal else 0.0

    def solve(self):
        """A solution of the state right after reset, as a list of actions.

        It shows that the game can be won, and it should act only on what the agent can see.
        """
        x, y = self.goal[0] - self.at[0], self.goal[1] - self.at[1]
        return ["east" if x > 0 else "west"] * abs(x) + ["south" if y > 0 else "north"] * abs(y)
