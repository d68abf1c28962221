package grammar

// calls runs the operations of a plan in order and leaves out those that are forbidden.
func calls(b *builder) stage {
	n := 3 + b.level
	bans := 1
	if b.variant == 1 {
		bans = 0
	}
	left := n + 1
	code := b.fill(`
def make_@P():
    plan = rng.sample(@T, @N)
    return {"plan": plan, "banned": plan[:@B], "row": rng.shuffled(plan), "at": 0, "last": "none", "goal": @N - @B, "left": @L}

def todo_@P(g):
    return [x for x in g["row"] if x not in g["banned"]]

def view_@P(g):
    lines = ["@I", "@C: " + text.join(" ", g["row"])]
    if len(g["banned"]) > 0:
        lines.append("@F: " + text.join(" ", g["banned"]))
    return lines + ["@D: " + `+map[bool]string{true: `g["last"]`, false: `text.str(g["at"])`}[b.variant != 2]+`]

def moves_@P(g):
    return [["@V", x] for x in g["plan"]]

def play_@P(g, m):
    g = dict(g)
    if g["at"] < len(todo_@P(g)) and m[1] == todo_@P(g)[g["at"]]:
        g["at"] = g["at"] + 1
        g["last"] = m[1]
    return g

def won_@P(g):
    return g["at"]

def plan_@P(g):
    return [["@V", x] for x in todo_@P(g)]
`, "T", b.list("STEPS", b.fresh(n+1)), "N", num(n), "B", num(bans), "L", num(left), "V", b.verb("run", "call", "invoke"),
		"I", b.pick("Task: run the plan in order", "Job: follow the plan", "Shift: work through the plan"), "C", b.pick("Plan", "Runlist", "Procedure"),
		"F", b.pick("Banned", "Not allowed", "Locked"), "D", b.pick("Latest", "Ran", "Previous"))
	return stage{name: b.name, code: code, left: left}
}
