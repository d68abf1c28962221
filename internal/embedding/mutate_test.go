package embedding

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"go.starlark.net/syntax"
)

// edit replaces a stretch of a source.
type edit struct {
	from, to int
	with     string
}

// apply carries out edits that do not overlap.
func apply(source string, edits []edit) string {
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(b.from, a.from) })
	for _, e := range edits {
		source = source[:e.from] + e.with + source[e.to:]
	}
	return source
}

// offsets turns positions of the parser into byte offsets.
type offsets []string

func (o offsets) of(p syntax.Position) int {
	at := 0
	for _, line := range o[:p.Line-1] {
		at += len(line)
	}
	column := 1
	for i := range o[p.Line-1] {
		if column == int(p.Col) {
			return at + i
		}
		column++
	}
	return at + len(o[p.Line-1])
}

func parse(t *testing.T, source string) (*syntax.File, offsets) {
	t.Helper()
	f, err := (&syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true}).Parse("x", source, 0)
	if err != nil {
		t.Fatalf("%v in\n%s", err, source)
	}
	return f, slices.Collect(strings.Lines(source))
}

// renamed gives every name that the author chose another one.
func renamed(t *testing.T, source string) string {
	t.Helper()
	file, at := parse(t, source)
	chosen := map[string]bool{}
	syntax.Walk(file, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.DefStmt:
			chosen[x.Name.Name] = true
			for _, p := range x.Params {
				if id, ok := p.(*syntax.Ident); ok {
					chosen[id.Name] = true
				}
			}
		case *syntax.LambdaExpr:
			for _, p := range x.Params {
				if id, ok := p.(*syntax.Ident); ok {
					chosen[id.Name] = true
				}
			}
		case *syntax.AssignStmt:
			for _, n := range assigned(x.LHS) {
				chosen[n] = true
			}
		case *syntax.ForStmt:
			for _, n := range assigned(x.Vars) {
				chosen[n] = true
			}
		case *syntax.ForClause:
			for _, n := range assigned(x.Vars) {
				chosen[n] = true
			}
		}
		return true
	})
	skip := map[*syntax.Ident]bool{}
	var edits []edit
	syntax.Walk(file, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.DotExpr:
			skip[x.Name] = true
		case *syntax.CallExpr:
			for _, a := range x.Args {
				if named, ok := a.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
					if id, ok := named.X.(*syntax.Ident); ok {
						skip[id] = true
					}
				}
			}
		case *syntax.Ident:
			if chosen[x.Name] && !contract(x.Name) && !skip[x] {
				from := at.of(x.NamePos)
				edits = append(edits, edit{from, from + len(x.Name), "q_" + x.Name[:1] + strconv.Itoa(len(x.Name)*7) + "_" + x.Name})
			}
		}
		return true
	})
	return apply(source, edits)
}

// renumbered changes every number.
func renumbered(t *testing.T, source string) string {
	t.Helper()
	file, at := parse(t, source)
	var edits []edit
	syntax.Walk(file, func(n syntax.Node) bool {
		if x, ok := n.(*syntax.Literal); ok && (x.Token == syntax.INT || x.Token == syntax.FLOAT) {
			from := at.of(x.TokenPos)
			edits = append(edits, edit{from, from + len(x.Raw), "7" + x.Raw})
		}
		return true
	})
	return apply(source, edits)
}

// rekeyed renames the keys of the state.
func rekeyed(source string) string {
	return regexp.MustCompile(`\["([a-z_]+)"\]`).ReplaceAllString(source, `["k_$1"]`)
}

// reordered shuffles the functions and adds comments.
func reordered(t *testing.T, source string) string {
	t.Helper()
	file, at := parse(t, source)
	var rest, defs []string
	for i, s := range file.Stmts {
		from, _ := s.Span()
		to := len(source)
		if i+1 < len(file.Stmts) {
			next, _ := file.Stmts[i+1].Span()
			to = at.of(next)
		}
		body := source[at.of(from):to]
		if _, ok := s.(*syntax.DefStmt); ok {
			defs = append(defs, "# another comment\n"+body+"\n")
			continue
		}
		rest = append(rest, body)
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(defs), func(i, j int) { defs[i], defs[j] = defs[j], defs[i] })
	return strings.Join(rest, "") + strings.Join(defs, "")
}

// refitted tells the same mechanic about other things: two words in three of
// every string change.
func refitted(t *testing.T, source string) string {
	t.Helper()
	file, at := parse(t, source)
	var edits []edit
	word := regexp.MustCompile(`[A-Za-z]{3,}`)
	syntax.Walk(file, func(n syntax.Node) bool {
		if x, ok := n.(*syntax.Literal); ok && x.Token == syntax.STRING && utf8.ValidString(x.Raw) {
			from := at.of(x.TokenPos)
			with := word.ReplaceAllStringFunc(x.Raw, func(w string) string {
				if hash64(w)%3 == 0 {
					return w
				}
				return fmt.Sprintf("%sz", strings.Repeat(w[:1], 2)+w[1:])
			})
			edits = append(edits, edit{from, from + len(x.Raw), with})
		}
		return true
	})
	return apply(source, edits)
}
