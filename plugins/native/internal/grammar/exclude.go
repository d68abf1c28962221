package grammar

// exclude rules out all but one by what is said of the others.
func exclude(b *builder) stage {
	n := 3 + (b.level+1)/2
	q := quiz{
		intro: b.pick("List: name the one that is not ruled out", "Board: who remains", "Check: find what is left"),
		verb:  b.verb("keep", "name", "choose"), rounds: 2 + b.level/2,
		setup: `g = {"asks": []}
for _ in range(@R):
    names = rng.sample(@T, @K)
    left = rng.choice(names)
    g["asks"].append({"names": names, "left": left, "out": rng.shuffled([x for x in names if x != left])})
`,
		ask: `lines.append("@W: " + text.join(" ", a["names"]))
for x in a["out"]:
    lines.append("@C: " + @Z)
`,
		options: `a["names"]`, answer: `a["left"]`,
	}
	say := `x + " @J"`
	if b.variant == 1 {
		say = `"@G " + x`
	}
	return q.stage(b, "Z", say, "T", b.list("NAMES", b.fresh(n+2)), "K", num(n), "R", num(q.rounds), "W", b.pick("List", "Candidates", "Open"),
		"C", b.pick("Clue", "Finding", "Report"), "J", b.pick("is ruled out", "does not fit", "failed"), "G", b.pick("cannot be", "drop", "not"))
}
