package grammar

import (
	"fmt"
	"strings"
)

// The skeletons join the stages into an environment. They differ with what the design asks for, so that a source holds
// only code that it needs.

const singleCode = `
def listed(s):
    return [act(m) for m in moves_@P(s["g"])] if not over(s) else []

def over(s):
    return s["t"] >= s["g"]["left"] or won_@P(s["g"]) >= s["g"]["goal"]@L

def look(s):
    lines = view_@P(s["g"])
@E    return text.join("\n", lines)

def verify(s):
    return won_@P(s["g"]) / s["g"]["goal"]

def reset(seed):
    s = {"g": make_@P(), "t": 0@I}
    return s, look(s), {"actions": listed(s)}

def step(state, action):
    s = dict(state)
    s["t"] = s["t"] + 1
    for m in moves_@P(state["g"]):
        if act(m) == action:
            s["g"] = play_@P(state["g"], m)
            break
    gain = verify(s) - verify(state)
@U    return s, look(s), gain, over(s), False, {"actions": listed(s)}

def solve(s):
    return [act(m) for m in plan_@P(s["g"])]

def hint(s):
    return "@H: " + text.join(", then ", [m[0] + " " + m[1] for m in plan_@P(s["g"])])
`

func (s *source) single(w *strings.Builder) {
	w.WriteString(s.fill(singleCode, "P", s.parts[0].name))
}

// fill puts the design's interface into a skeleton.
func (s *source) fill(code string, pairs ...string) string {
	limit, init, echo, update := "", "", "", ""
	if s.limited() {
		limit = ` or s["misses"] >= 2`
		init = `, "misses": 0`
		update = "    if gain <= 0:\n        s[\"misses\"] = s[\"misses\"] + 1\n"
	}
	if s.design.Echo {
		init += `, "said": "begin"`
		yes, no := "gained", "nothing"
		echo = "    lines.append(\"" + s.words("Outcome", "Last move", "Effect") + ": \" + s[\"said\"])\n"
		update += fmt.Sprintf("    s[\"said\"] = \"%s\" if gain > 0 else \"%s\"\n", yes, no)
	}
	args := []string{"@L", limit, "@I", init, "@E", echo, "@U", update, "@H", s.words("In turn", "Do this", "Plan", "Way")}
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, "@"+pairs[i], pairs[i+1])
	}
	return strings.NewReplacer(args...).Replace(code)
}

const thenCode = `
def stage_over(s, i):
    return s["used"][i] >= s["gs"][i]["left"] or won(i, s["gs"][i]) >= s["gs"][i]["goal"]

def turn(s):
    return 0 if not stage_over(s, 0) else 1
`

const alternateCode = `
def stage_over(s, i):
    return s["used"][i] >= s["gs"][i]["left"] or won(i, s["gs"][i]) >= s["gs"][i]["goal"]

def turn(s):
    i = (s["used"][0] + s["used"][1]) % 2
    return i if not stage_over(s, i) else 1 - i
`

const joinedCode = `
def over(s):
    return (stage_over(s, 0) and stage_over(s, 1))@L

def moves(s):
    i = turn(s)
    if over(s):
        return []
    return moves_@A(s["gs"][0]) if i == 0 else moves_@B(s["gs"][1])

def listed(s):
    return [act(m) for m in moves(s)]

def look(s):
    lines = view_@A(s["gs"][0]) if turn(s) == 0 else view_@B(s["gs"][1])
@E    return text.join("\n", lines)

def verify(s):
    total = s["gs"][0]["goal"] + s["gs"][1]["goal"]
    return (won(0, s["gs"][0]) + won(1, s["gs"][1])) / total

def reset(seed):
    s = {"gs": [make_@A(), make_@B()], "used": [0, 0]@I}
    return s, look(s), {"actions": listed(s)}

def step(state, action):
    s = dict(state)
    i = turn(state)
    for m in moves(state):
        if act(m) == action:
            g = play_@A(state["gs"][0], m) if i == 0 else play_@B(state["gs"][1], m)
            s["gs"] = [g, state["gs"][1]] if i == 0 else [state["gs"][0], g]
            break
    s["used"] = [state["used"][0] + (1 if i == 0 else 0), state["used"][1] + (1 if i == 1 else 0)]
    gain = verify(s) - verify(state)
@U    return s, look(s), gain, over(s), False, {"actions": listed(s)}
`

const thenPlan = `
def plan(s):
    return plan_@A(s["gs"][0]) + plan_@B(s["gs"][1])
`

const alternatePlan = `
def plan(s):
    a = plan_@A(s["gs"][0])
    b = plan_@B(s["gs"][1])
    out = []
    for i in range(max(len(a), len(b))):
        out = out + a[i:i + 1] + b[i:i + 1]
    return out
`

const joinedEnd = `
def solve(s):
    return [act(m) for m in plan(s)]

def hint(s):
    return "@H: " + text.join(", then ", [m[0] + " " + m[1] for m in plan(s)])
`

const wonCode = `
def won(i, g):
    return won_@A(g) if i == 0 else won_@B(g)
`

func (s *source) joined(w *strings.Builder) {
	order, plan := thenCode, thenPlan
	if s.design.Join == joinAlternate {
		order, plan = alternateCode, alternatePlan
	}
	w.WriteString(s.fill(wonCode+order+joinedCode+plan+joinedEnd, "A", s.parts[0].name, "B", s.parts[1].name))
}
