package grammar

// grid walks to a goal around walls; the way to it and what is blocked are told.
func grid(b *builder) stage {
	size := 3 + b.level/2
	far := 2 + b.level
	left := far + 1 + b.level/2
	tell := `"@G: " + aim_@P(g)`
	if b.variant == 1 {
		tell = `"@G: column " + text.str(g["gx"]) + " row " + text.str(g["gy"]) + " which is " + aim_@P(g)`
	}
	walls := "2"
	if b.variant == 2 {
		walls = "0"
	}
	code := b.fill(`
WAYS_@P = [["north", 0, 1], ["south", 0, -1], ["east", 1, 0], ["west", -1, 0]]

def make_@P():
    w = rng.randint(max(0, @F - @Z), min(@F, @Z))
    sx = rng.choice([1, -1])
    sy = rng.choice([1, -1])
    g = {"x": 0 if sx > 0 else @Z, "y": 0 if sy > 0 else @Z, "walls": [], "goal": @F, "left": @L}
    g["gx"] = g["x"] + sx * w
    g["gy"] = g["y"] + sy * (@F - w)
    for _ in range(@W):
        x = rng.randint(0, @Z)
        y = rng.randint(0, @Z)
        if y != g["y"] and x != g["gx"]:
            g["walls"].append([x, y])
    return g

def free_@P(g, x, y):
    return x >= 0 and y >= 0 and x <= @Z and y <= @Z and [x, y] not in g["walls"]

def aim_@P(g):
    out = []
    if g["gx"] != g["x"]:
        out.append("east" if g["gx"] > g["x"] else "west")
    if g["gy"] != g["y"]:
        out.append("north" if g["gy"] > g["y"] else "south")
    return text.join(" ", out) if len(out) > 0 else "here"

def view_@P(g):
    shut = [m[0] for m in WAYS_@P if not free_@P(g, g["x"] + m[1], g["y"] + m[2])]
    return ["@I", `+tell+`, "@S: " + (text.join(" ", shut) if len(shut) > 0 else "nothing")]

def moves_@P(g):
    return [["@V", m[0]] for m in WAYS_@P]

def play_@P(g, m):
    g = dict(g)
    for w in WAYS_@P:
        if m[1] == w[0] and free_@P(g, g["x"] + w[1], g["y"] + w[2]):
            g["x"], g["y"] = g["x"] + w[1], g["y"] + w[2]
            break
    return g

def won_@P(g):
    return max(0, g["goal"] - abs(g["gx"] - g["x"]) - abs(g["gy"] - g["y"]))

def plan_@P(g):
    dx, dy = g["gx"] - g["x"], g["gy"] - g["y"]
    return ([["@V", "east" if dx > 0 else "west"] for _ in range(abs(dx))] +
            [["@V", "north" if dy > 0 else "south"] for _ in range(abs(dy))])
`, "Z", num(size), "F", num(min(far, 2*size)), "L", num(left), "W", walls, "V", b.verb("go", "walk", "step"),
		"I", b.pick("Field: walk to the goal", "Map: reach the mark", "Hall: get to the far corner"), "G", b.pick("Goal", "Mark", "Target"), "S", b.pick("Walls", "Closed", "Shut"))
	return stage{name: b.name, code: code, left: left}
}
