# A plain gymnasium.Env without anything of this platform: walk to the end of a corridor, and never turn round on the way.
import gymnasium
from gymnasium import spaces


class Corridor(gymnasium.Env):
    observation_space = spaces.Discrete(6)
    action_space = spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.at = 0
        return self.at, {}

    def step(self, action):
        over = action == 0 and self.at > 1
        self.at += 1 if action == 1 else -1 if self.at else 0
        there = self.at == 5
        return self.at, float(there), over or there, False, {}
