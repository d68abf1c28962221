package grammar

// vault hides a code that nothing on the screen tells. Only the hint helps: a designer should learn to leave it alone.
func vault(b *builder) stage {
	n := 6 + b.level
	code := b.fill(`
def make_@P():
    codes = rng.sample(@T, @K)
    return {"codes": codes, "secret": rng.choice(codes), "tries": [], "goal": 1, "left": @L}

def view_@P(g):
    return ["@I", "@C: " + (text.join(" ", g["tries"]) if len(g["tries"]) > 0 else "nothing")]

def moves_@P(g):
    return [["@V", x] for x in sorted(g["codes"])]

def play_@P(g, m):
    g = dict(g)
    g["tries"] = g["tries"] + [m[1]]
    return g

def won_@P(g):
    return 1 if g["secret"] in g["tries"] else 0

def plan_@P(g):
    return [["@V", g["secret"]]]
`, "T", b.list("CODES", b.fresh(n+2)), "K", num(n), "L", num(1+b.variant), "V", b.verb("enter", "type", "dial"),
		"I", b.pick("Box: enter the code", "Lock: find the word", "Safe: open it"), "C", b.pick("Tried", "Failed", "Entered"))
	return stage{name: b.name, code: code, left: 1 + b.variant}
}
