# A small bank. Two of its accounts are to hold the same: the agent looks them up, moves money and closes the task.
#
# Tools in Python's class form. Each episode has an object of its own, and what it holds is the state. The accounts are
# objects here, which are no JSON, so the class says with state() what counts.

import dataclasses
import json

NAMES = ["garden", "kitchen", "library", "workshop"]


@dataclasses.dataclass
class Account:
    name: str
    coins: int


def tool(name, description, **properties):
    parameters = {"type": "object", "properties": properties, "required": list(properties)}
    return {"name": name, "description": description, "parameters": parameters}


ACCOUNT = {"type": "string", "enum": NAMES}


class Env:
    META = {
        "title": "Two accounts that hold the same",
        "kind": "tools",
        "max_steps": 8,
        "tools": [
            tool("balance", "How many coins an account holds.", account=ACCOUNT),
            tool("transfer", "Moves coins from one account to another.", source=ACCOUNT, target=ACCOUNT, coins={"type": "integer", "minimum": 1}),
            tool("close", "Ends the task."),
        ],
    }

    def reset(self, seed):
        coins = self.rng.sample(list(range(10, 60)), len(NAMES))
        self.accounts = {name: Account(name, amount) for name, amount in zip(NAMES, coins)}
        self.pair = self.rng.sample(NAMES, 2)
        first, second = (self.accounts[name] for name in self.pair)
        # Another number of coins, by an even number, so that it can be done in one transfer.
        first.coins = second.coins + 2 * self.rng.randint(2, 9)
        self.closed = False
        self.transfers = 0
        return f"Make the accounts {self.pair[0]} and {self.pair[1]} hold the same, with one transfer. Then close the task.", {}

    def state(self):
        held = {name: account.coins for name, account in self.accounts.items()}
        return {"held": held, "pair": self.pair, "closed": self.closed, "transfers": self.transfers}

    def step(self, action):
        try:
            call = json.loads(action)
            observation = self.use(call["name"], **call["arguments"])
        except (ValueError, LookupError, TypeError, RecursionError):
            observation = "Please call a tool: a JSON object with name and arguments."
        return observation, self.verify(), self.closed, False, {}

    def use(self, name, account=None, source=None, target=None, coins=None):
        if name == "close":
            self.closed = True
            return "The task is closed."
        if name == "balance":
            return f"The account {account} holds {self.accounts[account].coins} coins."
        if name != "transfer":
            return "There is no such tool."
        if type(coins) is not int or not 0 < coins <= self.accounts[source].coins or target not in self.accounts:
            return "That cannot be transferred."
        self.accounts[source].coins -= coins
        self.accounts[target].coins += coins
        self.transfers += 1
        return "Done."

    def difference(self):
        first, second = (self.accounts[name].coins for name in self.pair)
        return first - second

    def hint(self):
        return f"{self.pair[0]} has {self.difference()} more than {self.pair[1]}. Transfer half of that, which is {self.difference() // 2}, and close."

    def verify(self):
        return 1.0 if self.closed and self.transfers == 1 and self.difference() == 0 else 0.0

    def solve(self):
        first, second = self.pair
        calls = [
            {"name": "balance", "arguments": {"account": first}},
            {"name": "balance", "arguments": {"account": second}},
            {"name": "transfer", "arguments": {"source": first, "target": second, "coins": self.difference() // 2}},
            {"name": "close", "arguments": {}},
        ]
        return [json.dumps(call) for call in calls]
