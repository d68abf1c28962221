package grammar

// recall shows pairs once and asks for them later, beside a wrong suggestion.
func recall(b *builder) stage {
	n := 2 + (b.level+1)/2
	rounds := 1 + n/2
	b.verbs = append(b.verbs, "go")
	code := b.fill(`
def make_@P():
    keys = rng.sample(@T, @K)
    values = rng.sample(@B, @K)
    asks = [rng.randint(0, @K - 1) for _ in range(@R)]
    return {"keys": keys, "values": values, "asks": asks, "decoys": [(a + rng.randint(1, @K - 1)) % @K for a in asks],
            "seen": False, "given": [], "goal": @R, "left": @R + 1}

def view_@P(g):
    if not g["seen"]:
        return ["@I"] + ["@C: " + g["keys"][i] + " @J " + g["values"][i] for i in range(@K)]
    i = len(g["given"])
    if i >= @R:
        return ["@E"]
    return ["@E", "@W: " + g["keys"][g["asks"][i]]@X]

def moves_@P(g):
    if not g["seen"]:
        return [["go", "on"]]
    return [["@V", x] for x in @O]

def play_@P(g, m):
    g = dict(g)
    if g["seen"]:
        g["given"] = g["given"] + [m[1]]
    g["seen"] = True
    return g

def won_@P(g):
    n = 0
    for i in range(len(g["given"])):
        if g["given"][i] == g["values"][g["asks"][i]]:
            n = n + 1
    return n

def plan_@P(g):
    return [["go", "on"]] + [["@V", g["values"][a]] for a in g["asks"]]
`, "T", b.list("KEYS", b.fresh(n+1)), "B", b.list("VALUES", b.fresh(n+1)), "O", b.offer(`sorted(g["values"])`, "RECALL_VALUES"), "K", num(n), "R", num(rounds), "V", b.verb("recall", "say", "tell"),
		"X", map[bool]string{true: `, "@G: " + g["values"][g["decoys"][i]]`, false: ""}[b.variant != 2])
	code = b.fill(code, "I", b.pick("Memory: these are shown once", "Study: keep these in mind", "Learn: you will be asked"),
		"E", b.pick("Memory: what was it", "Exam: answer from memory", "Later: which one"), "C", b.pick("Pair", "Entry", "Fact"),
		"J", b.pick("means", "has", "is"), "W", b.pick("Asked", "Key", "Question"), "G", b.pick("Someone says", "Guess", "Hearsay"))
	return stage{name: b.name, code: code, left: rounds + 1}
}
