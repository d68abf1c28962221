package grammar

// form copies values of a record into the fields that are asked for.
func form(b *builder) stage {
	n := 3 + b.level/2
	q := quiz{
		intro: b.pick("Record: enter the field from the order", "Form: copy each field", "Entry: fill in what is asked"),
		verb:  b.verb("set", "enter", "put"), rounds: 2 + (b.level+1)/2,
		setup: `values = rng.sample(@B, @K + 1)
g = {"values": values, "order": rng.shuffled(list(range(@K))), "asks": [rng.randint(0, @K - 1) for _ in range(@R)]}
`,
		facts:   "for i in g[\"order\"]:\n    lines.append(\"@C: \" + @T[i] + \" @J \" + g[\"values\"][i])\n",
		ask:     "lines.append(\"@W: \" + @T[a])\n",
		options: `sorted(g["values"])`, answer: `g["values"][a]`,
	}
	if b.variant == 1 {
		q.facts = "for i in g[\"order\"]:\n    lines.append(\"@C \" + @T[i] + \": \" + g[\"values\"][i])\n"
	}
	return q.stage(b, "T", b.list("FIELDS", b.fresh(n)), "B", b.list("VALUES", b.fresh(n+3)), "K", num(n), "R", num(q.rounds),
		"C", b.pick("Order", "Letter", "Given"), "J", b.pick("set to", "be", "as"), "W", b.pick("Field", "Asked", "Slot"))
}
