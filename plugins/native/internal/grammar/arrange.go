package grammar

// arrange takes items in the order of their numbers; a wrong one first spoils the rest.
func arrange(b *builder) stage {
	n := 3 + (b.level+1)/2
	less, word := "<", b.pick("ascending", "smallest first", "lowest first")
	if b.variant == 1 {
		less, word = ">", b.pick("descending", "largest first", "highest first")
	}
	code := b.fill(`
def make_@P():
    names = rng.sample(@T, @K)
    values = rng.sample(list(range(@X, @Y)), @K)
    return {"rows": [[names[i], values[i]] for i in range(@K)], "taken": [], "goal": @K, "left": @K}

def rest_@P(g):
    return [r for r in g["rows"] if r[0] not in g["taken"]]

def head_@P(rows):
    top = rows[0]
    for r in rows:
        if r[1] @Z top[1]:
            top = r
    return top[0]

def view_@P(g):
    return ["@I"] + ["@C " + r[0] + ": " + text.str(r[1]) for r in rest_@P(g)]

def moves_@P(g):
    return [["@V", r[0]] for r in rest_@P(g)]

def play_@P(g, m):
    g = dict(g)
    g["taken"] = g["taken"] + [m[1]]
    return g

def won_@P(g):
    left = g["rows"]
    n = 0
    for name in g["taken"]:
        if name == head_@P(left):
            n = n + 1
        left = [r for r in left if r[0] != name]
    return n

def plan_@P(g):
    left = g["rows"]
    out = []
    for _ in range(@K):
        name = head_@P(left)
        out.append(["@V", name])
        left = [r for r in left if r[0] != name]
    return out
`, "T", b.list("ITEMS", b.fresh(n+2)), "K", num(n), "X", num(1), "Y", num(20+20*b.level), "Z", less, "V", b.verb("place", "take", "next"),
		"I", b.pick("Queue: take them ", "Shelf: order them ", "File: sort them ")+word, "C", b.pick("Item", "Piece", "Number", "Entry"))
	return stage{name: b.name, code: code, left: n, quiz: true}
}
