package grammar

// extreme asks for the row with the largest or the smallest number.
func extreme(b *builder) stage {
	n := 3 + (b.level+1)/2
	high, low := b.pair("largest", "smallest", "highest", "lowest", "heaviest", "lightest", "most", "least", "oldest", "youngest")
	asks := `rng.choice(["@H", "@L"])`
	switch b.variant {
	case 1:
		asks = `"@H"`
	case 2:
		asks = `"@L"`
	}
	q := quiz{
		intro: b.pick("Table: compare the rows", "Scale: compare the readings", "Survey: compare the values"),
		verb:  b.verb("row", "mark", "take"), rounds: 2 + (b.level+1)/2,
		setup: `g = {"asks": []}
for _ in range(@R):
    names = rng.sample(@T, @K)
    values = rng.sample(list(range(@X, @Y)), @K)
    g["asks"].append({"want": ` + asks + `, "rows": [[names[i], values[i]] for i in range(@K)]})
`,
		ask: `lines.append("@W: the " + a["want"])
for r in a["rows"]:
    lines.append("@C " + r[0] + ": " + text.str(r[1]))
`,
		options: `[r[0] for r in a["rows"]]`, answer: `best_@P(a)`,
	}
	if b.variant != 0 {
		q.intro += ", give the " + map[int]string{1: high, 2: low}[b.variant]
		q.ask = q.ask[len("lines.append(\"@W: the \" + a[\"want\"])\n"):]
	}
	s := q.stage(b, "T", b.list("ROWS", b.fresh(n+2)), "K", num(n), "R", num(q.rounds), "X", num(10), "Y", num(30+20*b.level),
		"C", b.pick("Row", "Sample", "Value", "Entry"), "W", b.pick("Wanted", "Give", "Find"), "H", high, "L", low)
	s.code = b.fill(`
def best_@P(a):
    top = a["rows"][0]
    for r in a["rows"]:
        if (a["want"] == "@H" and r[1] > top[1]) or (a["want"] == "@L" and r[1] < top[1]):
            top = r
    return top[0]

`, "H", high, "L", low) + s.code
	return s
}

// pair picks one of several pairs.
func (b *builder) pair(words ...string) (string, string) {
	i := 2 * b.r.IntN(len(words)/2)
	return words[i], words[i+1]
}
