package grammar

// running keeps a total over additions and subtractions; the new total is chosen among near ones.
func running(b *builder) stage {
	top := 5 + 5*b.level
	steps := `rng.randint(2, @T)`
	if b.variant == 1 {
		steps = `rng.choice([1, 1, -1]) * rng.randint(2, @T)`
	}
	q := quiz{
		intro: b.pick("Total: give the new total", "Count: what is it now", "Sum: keep the sum"),
		verb:  b.verb("total", "now", "sum"), rounds: 2 + (b.level+1)/2,
		setup: `g = {"asks": []}
t = rng.randint(@T, 4 * @T)
for _ in range(@R):
    x = ` + steps + `
    g["asks"].append([t, x, rng.randint(1, 4), rng.randint(0, 3)])
    t = t + x
`,
		ask: `lines.append("@W: " + text.str(a[0]))
lines.append("@U: " + text.str(a[1]) if a[1] >= 0 else "@D: " + text.str(-a[1]))
`,
		options: `[text.str(a[0] + a[1] + (i - a[3]) * a[2]) for i in range(4)]`, answer: `text.str(a[0] + a[1])`,
	}
	return q.stage(b, "T", num(top), "R", num(q.rounds), "W", b.pick("So far", "Total", "Stock", "Sum"),
		"U", b.pick("Add", "Plus", "Arrives"), "D", b.pick("Subtract", "Minus", "Leaves"))
}
