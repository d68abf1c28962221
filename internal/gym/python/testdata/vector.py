"""The reference of the figure "python steps": the environment of bench_test.go in gymnasium's AsyncVectorEnv.

python vector.py SECONDS prints the steps a second of the best of several numbers of environments.
"""

import sys
import time

import gymnasium
import numpy


class Counter(gymnasium.Env):
    observation_space = gymnasium.spaces.Discrete(1001)
    action_space = gymnasium.spaces.Discrete(2)

    def reset(self, *, seed=None, options=None):
        super().reset(seed=seed)
        self.n = 0
        return 0, {}

    def step(self, action):
        self.n += int(action == 1)
        return self.n, 0.0, self.n >= 500, False, {}


def measure(count, seconds):
    envs = gymnasium.vector.AsyncVectorEnv([Counter] * count, shared_memory=True)
    try:
        envs.reset(seed=1)
        actions = numpy.ones(count, dtype=numpy.int64)
        for _ in range(20):
            envs.step(actions)
        rounds, began = 0, time.perf_counter()
        while time.perf_counter() - began < seconds:
            for _ in range(20):
                envs.step(actions)
            rounds += 20
        return rounds * count / (time.perf_counter() - began)
    finally:
        envs.close()


if __name__ == "__main__":
    print(max(measure(count, float(sys.argv[1])) for count in (2, 4, 16, 32)))
