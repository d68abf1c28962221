# A customer pays for some goods; the agent says how much change is due. Made by
# `spade env new --kind reasoning --runtime python --form class`.
#
# Try it, then change it to your own task:
#   spade env check FILE      does the gate accept it?
#   spade env play FILE       what does the agent see?
#
# This is Python with its standard library. `self.rng` is always there and the only source of randomness: an episode must
# be the same whenever its seed is, so there is no use for random, time or the order of a set. Each episode has an object
# of its own. Its attributes are the state and must be JSON; where they are not, write a method state() that returns what
# counts.

GOODS = ["pencils", "apples", "candles", "ribbons", "marbles"]


class Env:
    # META says what the environment is. An episode is cut short after max_steps actions.
    META = {"title": "How much change is due", "kind": "reasoning", "max_steps": 1}

    def reset(self, seed):
        """Begins an episode. Returns what the agent sees first, and info."""
        self.goods = self.rng.choice(GOODS)
        self.count, self.price = self.rng.randint(3, 9), self.rng.randint(4, 12)
        self.paid = self.count * self.price + self.rng.randint(11, 60)
        self.answer = None
        observation = (
            f"A customer buys {self.count} {self.goods} at {self.price} coins each and pays with {self.paid} coins. "
            "How many coins are the change?"
        )
        # What info lists as actions, the agent may choose from. It may also say anything else.
        choices = [f"answer {self.change() + offset}" for offset in self.rng.shuffled([-10, -2, 0, 1, 7])]
        return observation, {"actions": choices}

    def change(self):
        return self.paid - self.count * self.price

    def step(self, action):
        """Takes one action, which is any text: it must answer every text and must not fail.

        Returns what the agent sees next, the reward of this step, terminated (the task has come to its end), truncated
        (it was cut short; leave that to the platform) and info. The rewards of an episode add up to a return in [0, 1]; a
        return of 1 is solved.
        """
        self.answer = action
        return "Thank you.", self.verify(), True, False, {}

    def hint(self):
        """What a teacher would whisper. One half of the episodes is played with it: what it helps is what can be learnt.

        It must not be in the first observation, and it should say how, not only what.
        """
        cost = self.count * self.price
        return f"{self.count} times {self.price} is {cost}. What is left of {self.paid} coins is the change: {self.change()}."

    def verify(self):
        """Judges the state on its own, when the episode has ended: the score in [0, 1].

        Where the episode terminated it must be equal to the return.
        """
        return 1.0 if self.answer == f"answer {self.change()}" else 0.0

    def solve(self):
        """A solution of the state right after reset, as a list of actions.

        It shows that the task can be solved, and it should act only on what the agent can see.
        """
        return [f"answer {self.change()}"]
