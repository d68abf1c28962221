package grammar

// bisect finds a hidden number; each probe is answered with the side on which it lies.
func bisect(b *builder) stage {
	width := 12 + 6*b.level
	left := 3 + b.level/3
	high, low := b.pair("higher", "lower", "above", "below", "more", "less")
	code := b.fill(`
def make_@P():
    low = rng.randint(@X, @X + 20)
    return {"low": low, "high": low + @N, "secret": rng.randint(low, low + @N), "said": "nothing yet", "good": 0, "found": False, "goal": 4, "left": @L}

def view_@P(g):
    return ["@I", "@R: " + text.str(g["low"]) + " to " + text.str(g["high"]), "@A: " + g["said"]]

def moves_@P(g):
    return [["@V", text.str(x)] for x in range(g["low"], g["high"] + 1)]

def play_@P(g, m):
    g = dict(g)
    for x in range(g["low"], g["high"] + 1):
        if m[1] == text.str(x):
            width = g["high"] - g["low"]
            if x == g["secret"]:
                g["found"] = True
                g["said"] = "found"
            elif x < g["secret"]:
                g["low"] = x + 1
                g["said"] = "@U"
            else:
                g["high"] = x - 1
                g["said"] = "@D"
            if 2 * (g["high"] - g["low"]) <= width and g["good"] < 2:
                g["good"] = g["good"] + 1
            break
    return g

def won_@P(g):
    return 4 if g["found"] else g["good"]

def plan_@P(g):
    return [["@V", text.str(g["secret"])]]
`, "N", num(width), "L", num(left), "X", num(5+5*b.variant), "V", b.verb("try", "probe", "guess"), "U", high, "D", low,
		"I", b.pick("Dial: find the hidden value", "Scale: find the weight", "Tuning: find the setting"), "R", b.pick("Between", "From", "Span"),
		"A", b.pick("Reply", "It is", "Signal"))
	return stage{name: b.name, code: code, left: left}
}
