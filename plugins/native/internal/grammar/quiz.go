package grammar

// quiz writes a stage of rounds: each round is asked once and answered by one move. The mechanic gives the bodies:
//
//	setup   statements that make the dict g, which holds what stays the same and "asks", one entry a round
//	facts   statements that append to lines what stays the same; shown once only when memo is set
//	ask     statements that append to lines what is asked, of the round a
//	options an expression for the list of values, of g and a
//	answer  an expression for the right value, of g and a
type quiz struct {
	intro, verb                        string
	rounds                             int
	setup, facts, ask, options, answer string
}

const quizCode = `
def make_@P():
@S    g["given"] = []
    g["goal"] = @N
    g["left"] = @N
    return g

def answer_@P(g, a):
    return @A

def view_@P(g):
    lines = [@I]
@F    if len(g["given"]) < len(g["asks"]):
        a = g["asks"][len(g["given"])]
@Q    return lines

def moves_@P(g):
    if len(g["given"]) >= len(g["asks"]):
        return []
    a = g["asks"][len(g["given"])]
    return [[@V, x] for x in @O]

def play_@P(g, m):
    g = dict(g)
    g["given"] = g["given"] + [m[1]]
    return g

def won_@P(g):
    n = 0
    for i in range(len(g["given"])):
        if g["given"][i] == answer_@P(g, g["asks"][i]):
            n = n + 1
    return n

def plan_@P(g):
    return [[@V, answer_@P(g, a)] for a in g["asks"]]
`

func (q quiz) stage(b *builder, pairs ...string) stage {
	factLines := indent(q.facts, 1)
	if b.memo && q.facts != "" {
		factLines = "    if len(g[\"given\"]) == 0:\n" + indent(q.facts, 2)
	}
	code := b.fill(quizCode,
		"S", indent(q.setup, 1), "N", num(q.rounds), "A", q.answer, "I", quote(q.intro), "F", factLines,
		"Q", indent(q.ask, 2), "V", quote(q.verb), "O", q.options)
	// Twice: what stands for a mark may hold another mark.
	code = b.fill(b.fill(code, pairs...), pairs...)
	return stage{name: b.name, code: code, left: q.rounds, quiz: true}
}

// indent puts n levels before each line.
func indent(code string, n int) string {
	var out []byte
	start := true
	for i := range len(code) {
		if start && code[i] != '\n' {
			for range n {
				out = append(out, "    "...)
			}
		}
		out = append(out, code[i])
		start = code[i] == '\n'
	}
	if len(out) > 0 && out[len(out)-1] != '\n' {
		out = append(out, '\n')
	}
	return string(out)
}
