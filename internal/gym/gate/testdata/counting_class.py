# The same environment as counting.py, as a class.
ACTIONS = ["up", "down", "stay"]


class Env:
    META = {"title": "Counting", "kind": "game", "max_steps": 12}

    def reset(self, seed):
        self.n = 0
        self.goal = self.rng.randint(4, 6)
        return self.show(), {"actions": ACTIONS}

    def noise(self):
        return ""

    def show(self):
        return f"The counter is at {self.n} and should be at {self.goal}.{self.noise()}"

    def step(self, action):
        self.n += {"up": 1, "down": -1}.get(action, 0)
        done = self.n == self.goal
        return self.show(), 1.0 if done else 0.0, done, False, {"actions": ACTIONS}

    def hint(self):
        return f"Say up {self.goal - self.n} times."

    def verify(self):
        return 1.0 if self.n == self.goal else 0.0

    def solve(self):
        return ["up"] * (self.goal - self.n)
