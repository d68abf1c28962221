package grammar

// doors opens doors in turn: a table tells which key fits, the key must be taken first.
func doors(b *builder) stage {
	n := 2 + (b.level+1)/2
	count := 1 + b.level/2
	left := 2*count + 1
	code := b.fill(`
def make_@P():
    signs = rng.sample(@T, @K)
    keys = rng.sample(@B, @K)
    return {"signs": signs, "keys": keys, "doors": [rng.randint(0, @K - 1) for _ in range(@C)], "held": "@N", "at": 0, "goal": 2 * @C, "left": @L}

def view_@P(g):
    lines = ["@I"] + ["@D: " + g["signs"][i] + " @J " + g["keys"][i] for i in range(@K)]
    if g["at"] < @C:
        lines.append("@W: " + g["signs"][g["doors"][g["at"]]])
    lines.append("@H: " + g["held"])
    return lines

def moves_@P(g):
    if g["at"] >= @C:
        return []
    return [["@V", x] for x in sorted(g["keys"])] + [["@O", g["signs"][g["doors"][g["at"]]]]]

def fits_@P(g):
    return g["at"] < @C and g["held"] == g["keys"][g["doors"][g["at"]]]

def play_@P(g, m):
    g = dict(g)
    if m[0] == "@V":
        g["held"] = m[1]
    elif fits_@P(g):
        g["at"] = g["at"] + 1
        g["held"] = "@N"
    return g

def won_@P(g):
    return 2 * g["at"] + (1 if fits_@P(g) else 0)

def plan_@P(g):
    out = []
    for d in g["doors"]:
        out.append(["@V", g["keys"][d]])
        out.append(["@O", g["signs"][d]])
    return out
`, "T", b.list("SIGNS", b.fresh(n+1)), "B", b.list("KEYS", b.fresh(n+1)), "K", num(n), "C", num(count), "L", num(left), "N", b.pick("none", "nothing", "empty"),
		"V", b.verb("grab", "hold", "lift"), "O", b.verb("open", "unlock", "try"),
		"I", b.pick("Passage: open each door", "Rooms: get through", "Gates: unlock them in turn"), "D", b.pick("Plan", "Table", "Guide"),
		"J", b.pick("opens by", "needs", "takes"), "W", b.pick("Door", "Gate", "Ahead"), "H", b.pick("In hand", "Carried", "Hand"))
	return stage{name: b.name, code: code, left: left}
}
