"""Pick the ripe rows of an orchard before the frost comes."""


class Env:
    META = {"title": "Orchard rows", "kind": "game", "max_steps": 12, "tools": []}

    def reset(self, seed):
        self.rows = [{"name": n, "ripe": rng.randint(0, 3)} for n in ["apple", "pear", "plum", "quince"]]
        self.frost = rng.randint(4, 8)
        self.picked = []
        return self.look(), {"actions": self.actions()}

    def actions(self):
        return ["pick " + row["name"] for row in self.rows] + ["wait"]

    def look(self):
        lines = ["Frost in %d days" % self.frost]
        for row in self.rows:
            lines.append("Row %s is %s" % (row["name"], "ripe" if row["ripe"] == 0 else "green"))
        return "\n".join(lines)

    def step(self, action):
        self.frost -= 1
        reward = 0.0
        for row in self.rows:
            if action == "pick " + row["name"] and row["ripe"] == 0 and row["name"] not in self.picked:
                self.picked.append(row["name"])
                reward = 0.25
            row["ripe"] = max(0, row["ripe"] - 1)
        done = len(self.picked) == len(self.rows)
        return self.look(), reward, done, self.frost <= 0, {"actions": self.actions()}

    def verify(self):
        return len(self.picked) / len(self.rows)

    def hint(self):
        return "Pick in the order " + ", ".join(sorted(r["name"] for r in self.rows))
