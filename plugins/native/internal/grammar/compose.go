package grammar

import (
	"fmt"
	"slices"
	"strings"

	"github.com/seed256f7767/spade/internal/seed"
)

// part is a stage with what belongs to it at the top of the source.
type part struct {
	stage
	consts string
	verbs  []string
	kind   string
}

// Compose writes the source of a design. docs are the documents of the prompt, in order; there may be none.
func Compose(d Design, docs []Doc) string {
	r := seed.Stream(uint64(d.SaltA)<<16|uint64(d.SaltB), seed.Key{Purpose: "grammar.salt", Index: d.Mechanic})
	b := newBuilder(grounds(d, docs), r)
	b.memo = d.Memo && d.Join == joinNone
	main := b.part(d.Mechanic, d.Level, d.Variant)
	s := source{design: d, docs: b.docs, parts: []part{main}}
	s.title = b.pick(mechanics()[d.Mechanic].title...)
	if d.Join != joinNone {
		b.memo = false
		other := d.Partner
		if other == d.Mechanic {
			other = (other + 1) % Mechanics()
		}
		s.parts = append(s.parts, b.part(other, d.Level/2, d.PartnerVariant))
		s.title += b.pick(" and ", ", then ", " with ") + strings.ToLower(b.pick(mechanics()[other].title...))
	}
	s.words = b.pick
	return s.text()
}

// grounds puts the chosen document first: it gives the words that the pool is cut from.
func grounds(d Design, docs []Doc) []Doc {
	if len(docs) == 0 {
		return nil
	}
	i := d.Document % len(docs)
	out := append([]Doc{docs[i]}, docs[:i]...)
	return append(out, docs[i+1:]...)
}

func (b *builder) part(mechanic, level, variant int) part {
	m := mechanics()[mechanic]
	b.name, b.level, b.variant = m.name, level, variant
	b.consts.Reset()
	b.verbs = nil
	st := m.build(b)
	verbs := append([]string(nil), b.verbs...)
	slices.Sort(verbs)
	return part{stage: st, consts: b.consts.String(), verbs: slices.Compact(verbs), kind: m.kind}
}

// source is everything that the skeleton needs.
type source struct {
	design Design
	docs   []Doc
	title  string
	parts  []part
	words  func(...string) string
}

func (s *source) text() string {
	var w strings.Builder
	s.header(&w)
	s.meta(&w)
	for _, p := range s.parts {
		w.WriteString(p.consts)
	}
	s.act(&w)
	for _, p := range s.parts {
		w.WriteString("\n" + strings.TrimLeft(p.code, "\n"))
	}
	w.WriteString("\n")
	if len(s.parts) == 1 {
		s.single(&w)
	} else {
		s.joined(&w)
	}
	return w.String()
}

func (s *source) header(w *strings.Builder) {
	names := make([]string, len(s.parts))
	for i, p := range s.parts {
		names[i] = p.name
	}
	fmt.Fprintf(w, "# %s. Mechanics: %s. Level %d of %d.\n", s.title, strings.Join(names, " and "), s.design.Level+1, Levels)
	if len(s.docs) > 0 {
		fmt.Fprintf(w, "# Words and facts from: %s.\n", comment(s.docs[0].Title))
	}
}

// comment keeps a title on its line.
func comment(title string) string {
	out := []rune(strings.Join(strings.Fields(title), " "))
	return string(out[:min(len(out), 100)])
}

func (s *source) tools() bool { return s.design.Tools }

func (s *source) maxSteps() int {
	n := 0
	for _, p := range s.parts {
		n += p.left
	}
	return n
}

func (s *source) meta(w *strings.Builder) {
	kind := s.parts[0].kind
	if s.tools() {
		kind = "tools"
	} else if kind == "tools" {
		kind = "reasoning"
	}
	fmt.Fprintf(w, "META = {\"title\": %s, \"kind\": %s, \"max_steps\": %d, \"tools\": [", quote(s.title), quote(kind), s.maxSteps())
	if s.tools() {
		w.WriteString("\n")
		for _, v := range s.verbs() {
			fmt.Fprintf(w, "    {\"name\": %s, \"description\": %s, \"parameters\": {\"type\": \"object\", \"properties\": {\"value\": {\"type\": \"string\"}}, \"required\": [\"value\"]}},\n",
				quote(v), quote(strings.ToUpper(v[:1])+v[1:]+" one value."))
		}
	}
	w.WriteString("]}\n\n")
}

func (s *source) verbs() []string {
	var out []string
	for _, p := range s.parts {
		out = append(out, p.verbs...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// act writes how a move becomes an action.
func (s *source) act(w *strings.Builder) {
	w.WriteString("\ndef act(m):\n")
	if s.tools() {
		w.WriteString("    return json.encode({\"name\": m[0], \"arguments\": {\"value\": m[1]}})\n")
		return
	}
	w.WriteString("    return m[0] + \" \" + m[1]\n")
}

// limited says whether the episode ends after two misses: only where every move of every stage should win something.
func (s *source) limited() bool {
	for _, p := range s.parts {
		if !p.quiz {
			return false
		}
	}
	return s.design.Limit
}
