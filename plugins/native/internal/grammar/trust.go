package grammar

// trust believes the one source that is known to be right.
func trust(b *builder) stage {
	n := 2 + (b.level+1)/3
	q := quiz{
		intro: b.pick("Reports: believe only the sound one", "Hearing: take the true word", "Gauges: read the working one"),
		verb:  b.verb("believe", "accept", "follow"), rounds: 2 + b.level/2,
		setup: `g = {"asks": []}
for _ in range(@R):
    g["asks"].append({"who": rng.sample(@T, @K), "what": rng.sample(@B, @K), "good": rng.randint(0, @K - 1)})
`,
		ask:     `@Z`,
		options: b.offer(`sorted(a["what"])`, `@B`), answer: `a["what"][a["good"]]`,
	}
	says := `for i in range(@K):
    lines.append("@C: " + a["who"][i] + " @J " + a["what"][i])
`
	known := `for i in range(@K):
    lines.append("@D: " + a["who"][i] + " is " + ("@G" if i == a["good"] else "@L"))
`
	q.ask = says + known
	if b.variant == 1 {
		q.ask = known + says
	}
	good, bad := b.pair("sound", "faulty", "right", "wrong", "true", "false", "reliable", "broken")
	return q.stage(b, "T", b.list("SOURCES", b.fresh(n+2)), "B", b.list("ANSWERS", b.fresh(n+2)), "K", num(n), "R", num(q.rounds),
		"C", b.pick("Claim", "Reading", "Statement"), "D", b.pick("State", "Proof", "Test"), "J", b.pick("tells", "claims", "gives"), "G", good, "L", bad)
}
