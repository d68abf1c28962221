package grammar

// sequence repeats a list, forward or backward.
func sequence(b *builder) stage {
	n := 3 + b.level
	at, word := `g["row"][g["at"]]`, "in the order shown"
	if b.variant == 1 {
		at, word = `g["row"][@N - 1 - g["at"]]`, "from the end to the start"
	}
	progress := `"@C: " + text.str(g["at"])`
	if b.variant == 2 {
		progress = `"@C: " + (text.join(" ", g["row"][:g["at"]]) if g["at"] > 0 else "nothing")`
	}
	code := b.fill(`
def make_@P():
    names = rng.sample(@T, @K)
    return {"names": sorted(names), "row": @X, "at": 0, "goal": @N, "left": @N + @S}

def next_@P(g):
    return `+at+`

def view_@P(g):
    return ["@I", "@L: " + text.join(" ", g["row"]), `+progress+`]

def moves_@P(g):
    return [["@V", x] for x in g["names"]]

def play_@P(g, m):
    g = dict(g)
    if m[1] == next_@P(g):
        g["at"] = g["at"] + 1
    return g

def won_@P(g):
    return g["at"]

def plan_@P(g):
    out = []
    g = dict(g)
    for i in range(@N):
        g["at"] = i
        out.append(["@V", next_@P(g)])
    return out
`, "I", b.pick("Steps: do them ", "Score: play it ", "Spell: say it ")+word, "L", b.pick("List", "Row", "Line", "Sequence"), "C", b.pick("Done", "Past", "Position"),
		"V", b.verb("do", "play", "say"))
	k := min(n, 3+b.level/2)
	row := `names + [rng.choice(names) for _ in range(@N - @K)]`
	if n == k {
		row = "names"
	}
	code = b.fill(code, "X", row)
	code = b.fill(code, "T", b.list("STEPS", b.fresh(k+1)), "K", num(k), "N", num(n), "S", num(1+b.level/3))
	return stage{name: b.name, code: code, left: n + 1 + b.level/3}
}
