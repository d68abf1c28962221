package grammar

import (
	"fmt"
	"strings"
)

// lookup asks for what stands on one of the cards that are shown. In one variant the cards are sentences of the documents,
// and the question is a sentence with a blank.
func lookup(b *builder) stage {
	n := 3 + b.level
	if b.variant != 0 {
		if fs := b.facts(n); len(fs) >= 3 {
			return cloze(b, fs)
		}
	}
	things := b.list("NAMES", b.fresh(n+1))
	traits := b.list("TRAITS", b.fresh(n))
	q := quiz{
		intro: b.pick("Cards: answer from the cards", "Index: find the entry", "Desk: look it up"),
		verb:  b.verb("pick", "name", "answer"), rounds: 2 + (b.level+1)/2,
		setup:   "names = rng.sample(@T, @K)\ntraits = rng.sample(@U, @K)\ng = {\"cards\": [[names[i], traits[i]] for i in range(@K)], \"asks\": [rng.randint(0, @M) for _ in range(@R)]}\n",
		facts:   "for c in g[\"cards\"]:\n    lines.append(\"@C: \" + c[0] + \" @J \" + c[1])\n",
		ask:     "lines.append(\"@W: \" + g[\"cards\"][a][1])\n",
		options: b.offer(`[c[0] for c in g["cards"]]`, `@T`), answer: `g["cards"][a][0]`,
	}
	return q.stage(b, "T", things, "U", traits, "K", num(n), "M", num(n-1), "R", num(q.rounds),
		"C", b.pick("Card", "Entry", "Item", "Fact"), "J", b.pick("has", "shows", "goes with", "is"), "W", b.pick("Asked", "Question", "Which", "Sought"))
}

func cloze(b *builder, fs []fact) stage {
	rows := make([]string, len(fs))
	for i, f := range fs {
		rows[i] = fmt.Sprintf("    [%s, %s, %s],", quote(f.term), quote(f.sentence), quote(f.blank))
	}
	name := strings.ToUpper(b.name) + "_FACTS"
	fmt.Fprintf(&b.consts, "%s = [\n%s\n]\n", name, strings.Join(rows, "\n"))
	q := quiz{
		intro: b.pick("Reading: fill the blank from the text", "Text: which word stands for what", "Source: complete the sentence"),
		verb:  b.verb("word", "fill", "write"), rounds: min(len(fs), 2+(b.level+1)/2),
		setup:   "g = {\"order\": rng.shuffled(list(range(@K))), \"asks\": rng.sample(list(range(@K)), @R)}\n",
		facts:   "for i in g[\"order\"]:\n    lines.append(\"@C: \" + @T[i][1])\n",
		ask:     "lines.append(\"@W: \" + @T[a][2])\n",
		options: `[@T[i][0] for i in g["order"]]`, answer: `@T[a][0]`,
	}
	return q.stage(b, "T", name, "K", num(len(fs)), "R", num(q.rounds),
		"C", b.pick("Line", "Fact", "Sentence"), "W", b.pick("Blank", "Complete", "Asked"))
}
