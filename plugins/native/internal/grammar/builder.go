package grammar

import (
	"fmt"
	"strings"

	"github.com/seed256f7767/spade/internal/seed"
)

// builder is what a mechanic writes with: its level and variant, and words that no other part of the source uses.
type builder struct {
	docs    []Doc
	r       *seed.Rand
	pool    []string
	used    map[string]bool
	level   int
	variant int
	memo    bool
	name    string
	verbs   []string // tools that the stage calls
	consts  strings.Builder
}

func newBuilder(docs []Doc, r *seed.Rand) *builder {
	b := &builder{docs: docs, r: r, used: map[string]bool{}}
	b.pool = terms(docs)
	if len(b.pool) > 120 {
		b.pool = b.pool[:120]
	}
	seed.Shuffle(r, b.pool)
	more := spare()
	seed.Shuffle(r, more)
	b.pool = append(b.pool, more...)
	return b
}

// fresh takes n words that are not used yet.
func (b *builder) fresh(n int) []string {
	out := make([]string, 0, n)
	for _, w := range b.pool {
		if len(out) == n {
			break
		}
		if !b.used[w] {
			b.used[w] = true
			out = append(out, w)
		}
	}
	for i := 0; len(out) < n; i++ {
		out = append(out, fmt.Sprintf("item%d%s", i, b.name))
	}
	return out
}

// list declares a constant list of words and returns its name.
func (b *builder) list(suffix string, ws []string) string {
	name := strings.ToUpper(b.name) + "_" + suffix
	fmt.Fprintf(&b.consts, "%s = %s\n", name, quoteList(ws))
	return name
}

// pick chooses a wording.
func (b *builder) pick(options ...string) string { return options[b.r.IntN(len(options))] }

// verb chooses the word for a move and notes it as a tool.
func (b *builder) verb(options ...string) string {
	v := b.pick(options...)
	b.verbs = append(b.verbs, v)
	return v
}

// offer chooses whether only what is shown can be answered, or also what is not.
func (b *builder) offer(shown, all string) string {
	if b.variant == 2 {
		return shown
	}
	return all
}

// facts takes sentences of the documents.
func (b *builder) facts(n int) []fact { return facts(b.docs, n, b.r) }

// fill replaces @X marks. The values come in pairs: a letter and what it stands for.
func (b *builder) fill(code string, pairs ...string) string {
	args := []string{"@P", b.name}
	for i := 0; i < len(pairs); i += 2 {
		args = append(args, "@"+pairs[i], pairs[i+1])
	}
	return strings.NewReplacer(args...).Replace(strings.TrimLeft(code, "\n"))
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(s) + `"`
}

func quoteList(ws []string) string {
	parts := make([]string, len(ws))
	for i, w := range ws {
		parts[i] = quote(w)
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

func num(n int) string { return fmt.Sprint(n) }
