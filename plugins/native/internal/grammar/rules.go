package grammar

// rules sends items where a posted rule says.
func rules(b *builder) stage {
	n := 2 + (b.level+2)/2
	q := quiz{
		intro: b.pick("Office: apply the rules", "Belt: follow the posted rules", "Desk: act as the rules say"),
		verb:  b.verb("send", "put", "use"), rounds: 2 + (b.level+1)/2,
		setup: `marks = rng.sample(@T, @K)
bins = rng.sample(@B, @K)
g = {"rules": [[marks[i], bins[i]] for i in range(@K)], "asks": [[rng.choice(@I), rng.randint(0, @K - 1)] for _ in range(@R)]}
`,
		facts:   "for r in g[\"rules\"]:\n    lines.append(\"@C: \" + r[0] + \" @J \" + r[1])\n",
		ask:     "lines.append(\"@W: \" + @Z)\n",
		options: b.offer(`sorted([r[1] for r in g["rules"]])`, `@B`), answer: `g["rules"][a[1]][1]`,
	}
	show := `a[0] + " is " + g["rules"][a[1]][0]`
	if b.variant == 1 {
		show = `g["rules"][a[1]][0] + " " + a[0]`
	}
	return q.stage(b, "Z", show, "T", b.list("MARKS", b.fresh(n+1)), "B", b.list("BINS", b.fresh(n+1)), "I", b.list("ITEMS", b.fresh(4)),
		"K", num(n), "R", num(q.rounds), "C", b.pick("Rule", "Order", "Posted"), "J", b.pick("to", "goes to", "needs", "means"), "W", b.pick("Now", "Case", "Item", "Today"))
}
