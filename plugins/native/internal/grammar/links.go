package grammar

// links asks for what two notes say together: a thing has a holder, the holder a place.
func links(b *builder) stage {
	n := 2 + (b.level+1)/2
	q := quiz{
		intro: b.pick("Trail: follow both notes", "Ledgers: combine the two", "Archive: find where it leads"),
		verb:  b.verb("place", "visit", "choose"), rounds: 2 + b.level/2,
		setup: `a = rng.sample(@T, @K)
h = rng.sample(@H, @K)
p = rng.sample(@L, @K)
first = ["@C: " + a[i] + " @J " + h[i] for i in range(@K)]
second = ["@D: " + h[i] + " @G " + p[i] for i in range(@K)]
g = {"things": a, "places": p, "notes": @M, "asks": [rng.randint(0, @K - 1) for _ in range(@R)]}
`,
		facts:   "for x in g[\"notes\"]:\n    lines.append(x)\n",
		ask:     "lines.append(\"@W: \" + g[\"things\"][a])\n",
		options: b.offer(`g["places"]`, `@L`), answer: `g["places"][a]`,
	}
	order := "rng.shuffled(first + second)"
	if b.variant == 1 {
		order = "rng.shuffled(first) + rng.shuffled(second)"
	}
	return q.stage(b, "M", order, "T", b.list("THINGS", b.fresh(n+1)), "H", b.list("HOLDERS", b.fresh(n+1)), "L", b.list("PLACES", b.fresh(n+1)),
		"K", num(n), "R", num(q.rounds), "C", b.pick("Note", "Tag", "Record"), "D", b.pick("Map", "Register", "Roll"),
		"J", b.pick("belongs to", "kept by", "came with"), "G", b.pick("stays at", "is in", "works at"), "W", b.pick("Item", "Asked", "Trace"))
}
