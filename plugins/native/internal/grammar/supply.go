package grammar

// supply fills stores up to what is needed; what is full already takes time and gives nothing.
func supply(b *builder) stage {
	n := 3 + b.level/2
	need := 3 + b.level
	slack := 1
	if b.variant == 2 {
		slack = 0
	}
	code := b.fill(`
def make_@P():
    names = rng.sample(@T, @K)
    short = [0 for _ in names]
    for _ in range(@N):
        i = rng.randint(0, @K - 1)
        short[i] = short[i] + 1
    have = [rng.randint(0, 3) for _ in names]
    return {"names": names, "need": [have[i] + short[i] for i in range(@K)], "have": have, "begin": have, "goal": @N, "left": @N + @S}

def view_@P(g):
    lines = ["@I"]
    for i in range(@K):
        lines.append("@C " + g["names"][i] + ": have " + text.str(g["have"][i]) + " need " + text.str(g["need"][i]) + (" @D" if g["have"][i] >= g["need"][i] else " @L"))
    return lines

def moves_@P(g):
    return [["@V", x] for x in g["names"]]

def play_@P(g, m):
    g = dict(g)
    g["have"] = [g["have"][i] + 1 if g["names"][i] == m[1] and g["have"][i] < g["need"][i] else g["have"][i] for i in range(@K)]
    return g

def won_@P(g):
    n = 0
    for i in range(@K):
        n = n + g["have"][i] - g["begin"][i]
    return n

def plan_@P(g):
    out = []
    for i in range(@K):
        for _ in range(g["need"][i] - g["have"][i]):
            out.append(["@V", g["names"][i]])
    return out
`, "T", b.list("GOODS", b.fresh(n+1)), "K", num(n), "N", num(need), "S", num(slack), "V", b.verb("gather", "fetch", "collect"),
		"I", b.pick("Stores: gather what is lacking", "Camp: fill the stores", "Depot: bring what is short"), "C", b.pick("Store", "Stock", "Bin"))
	done, lacking := b.pair("enough", "short", "full", "lacking", "done", "open")
	code = b.fill(code, "D", done, "L", lacking)
	return stage{name: b.name, code: code, left: need + slack, quiz: slack == 0}
}
