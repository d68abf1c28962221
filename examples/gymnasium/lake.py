# A plain gymnasium.Env, with nothing of this platform in it: a frozen lake with holes, from one corner to the other. Its
# spaces are rendered to text, its actions are read from text, and a seed makes its generator.
#
#   spade env install gymnasium
#   spade env check examples/gymnasium/lake.py --package gymnasium

import gymnasium
from gymnasium import spaces

SIZE = 4


class Lake(gymnasium.Env):
    # META may be left out. The return must lie in [0, 1], or the class says with return_range = (low, high) what it lies in.
    META = {"title": "Across the lake", "kind": "game", "max_steps": 24}

    observation_space = spaces.Dict(
        {"you": spaces.MultiDiscrete([SIZE, SIZE]), "holes": spaces.MultiBinary([SIZE, SIZE])},
    )
    action_space = spaces.Discrete(4)  # north, east, south, west

    def look(self):
        return {"you": self.at, "holes": self.holes}

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = [0, 0]
        while True:
            self.holes = [[int(self.np_random.random() < 0.3) for _ in range(SIZE)] for _ in range(SIZE)]
            self.holes[0][0] = self.holes[SIZE - 1][SIZE - 1] = 0
            if self.way():
                return self.look(), {}

    def step(self, action):
        row, column = self.at
        row += (-1, 0, 1, 0)[action]
        column += (0, 1, 0, -1)[action]
        if 0 <= row < SIZE and 0 <= column < SIZE:
            self.at = [row, column]
        there = self.at == [SIZE - 1, SIZE - 1]
        drowned = bool(self.holes[self.at[0]][self.at[1]])
        return self.look(), float(there), there or drowned, False, {}

    def way(self):
        """The actions of a shortest way from where one is, or None."""
        before, queue = {tuple(self.at): None}, [tuple(self.at)]
        for row, column in queue:
            if (row, column) == (SIZE - 1, SIZE - 1):
                actions, at = [], (row, column)
                while before[at]:
                    action, at = before[at]
                    actions.append(action)
                return actions[::-1]
            for action, (down, right) in enumerate(((-1, 0), (0, 1), (1, 0), (0, -1))):
                there = (row + down, column + right)
                inside = 0 <= there[0] < SIZE and 0 <= there[1] < SIZE
                if inside and there not in before and not self.holes[there[0]][there[1]]:
                    before[there] = action, (row, column)
                    queue.append(there)
        return None

    # These are not part of gymnasium. Without hint there is no hinted arm; without verify the return is the verdict; without
    # solve nothing shows that it can be solved, and the gate says so.
    def hint(self):
        names = ["north", "east", "south", "west"]
        return "Go " + ", ".join(names[action] for action in self.way()) + "."

    def verify(self):
        return float(self.at == [SIZE - 1, SIZE - 1])

    def solve(self):
        return [str(action) for action in self.way()]
