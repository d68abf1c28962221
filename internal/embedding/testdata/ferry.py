"""Book a crossing through a harbour office that answers in JSON."""
import json


class Env:
    META = {"title": "Ferry desk", "kind": "tools", "max_steps": 6, "tools": [{"name": "quote"}, {"name": "book"}]}

    def reset(self, seed):
        self.want = rng.choice(["dawn", "noon", "dusk"])
        self.prices = {t: rng.randint(10, 40) for t in ["dawn", "noon", "dusk"]}
        self.quoted = None
        self.score = 0.0
        return "A passenger asks for the cheapest crossing", {}

    def step(self, action):
        try:
            call = json.loads(action)
        except ValueError:
            return "The office hangs up", 0.0, True, False, {}
        if call.get("name") == "quote":
            self.quoted = call["arguments"]["time"]
            return json.dumps({"price": self.prices[self.quoted]}), 0.0, False, False, {}
        if call.get("name") == "book" and self.quoted:
            self.score = 1.0 if self.prices[self.quoted] == min(self.prices.values()) else 0.0
            return "Booked", self.score, True, False, {}
        return "Unknown tool", 0.0, False, False, {}

    def verify(self):
        return self.score
