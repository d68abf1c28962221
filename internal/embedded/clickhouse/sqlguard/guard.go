package sqlguard

import (
	"errors"
	"fmt"
	"strings"
)

// Refusal says why a statement may not run. Errors of Check are of this type.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return "the SQL is refused: " + r.Reason }

func refuse(format string, args ...any) error {
	return &Refusal{Reason: fmt.Sprintf(format, args...)}
}

var readVerbs = map[string]bool{
	"SELECT": true, "WITH": true, "SHOW": true, "DESCRIBE": true, "DESC": true, "EXISTS": true, "EXPLAIN": true,
}

// forbiddenPairs are keywords that, side by side, write, read a file or run another statement.
var forbiddenPairs = [][2]string{
	{"INTO", "OUTFILE"}, {"FROM", "INFILE"}, {"INSERT", "INTO"}, {"PARALLEL", "WITH"}, {"TABLE", "OVERRIDE"},
}

// Check tells whether sql is one reading statement that may run for someone who is not trusted.
func Check(sql string) error {
	all, err := tokens(sql)
	if err != nil {
		return refuse("%v", err)
	}
	all, err = single(sql, all)
	switch {
	case errors.Is(err, ErrMany):
		return refuse("exactly one statement is allowed, and a second one follows a semicolon")
	case err != nil:
		return refuse("%v", err)
	}
	p := parser{sql: sql, all: all}
	if v := verb(sql, all); !readVerbs[v] {
		return refuse("it begins with %q; only SELECT, WITH, SHOW, DESCRIBE, EXISTS and EXPLAIN may run here", clip(p.text(0)))
	}
	for i := range all {
		if err := p.check(i); err != nil {
			return err
		}
	}
	return nil
}

// check looks at token i and its neighbours.
func (p parser) check(i int) error {
	switch t := p.all[i]; t.kind {
	case other:
		return refuse("%q at byte %d is not SQL outside quotes (use plain ASCII quotes and spaces, and '…' for strings)", firstRune(p.sql[t.start:]), t.start)
	case literal:
		return p.checkLiteral(i)
	case quoted:
		return errors.Join(p.checkQuoted(i), p.checkCall(i))
	case word:
		return errors.Join(p.checkWord(i), p.checkCall(i))
	default:
		return nil
	}
}

func (p parser) checkLiteral(i int) error {
	if p.text(i)[0] == '$' {
		return refuse("dollar-quoted strings are not accepted: write '…'")
	}
	if p.is(i-1, "FROM") || p.is(i-1, "JOIN") || p.is(i-1, ".") {
		return refuse("a string in place of a table name reads a file")
	}
	return nil
}

// checkQuoted refuses identifiers that name files: the engine takes `default`.`/etc/passwd` for a table.
func (p parser) checkQuoted(i int) error {
	s := p.text(i)
	switch {
	case strings.Contains(s, `\`):
		return refuse("the identifier %s has a backslash", clip(s))
	case strings.Contains(s, "/") && !p.is(i-1, "AS"):
		return refuse("the identifier %s may name a file: give no name with a slash", clip(s))
	}
	return nil
}

func (p parser) checkWord(i int) error {
	if strings.Contains(p.text(i), "$") {
		return refuse("%q: names with a dollar sign go in double quotes", clip(p.text(i)))
	}
	for _, pair := range forbiddenPairs {
		if p.is(i, pair[0]) && p.is(i+1, pair[1]) {
			return refuse("%s %s may not be used here", pair[0], pair[1])
		}
	}
	if p.is(i, "Identifier") && p.is(i-1, ":") {
		return refuse("parameters of type Identifier may name files: write the name out")
	}
	return nil
}

// checkCall looks at a name with an opening parenthesis behind it.
func (p parser) checkCall(i int) error {
	if !p.is(i+1, "(") {
		return nil
	}
	name := unquote(p.text(i))
	if deniedCall(name) {
		return refuse("%s() reads the host or the network", name)
	}
	if p.tablePosition(i) && !allowedTableFunction(name) {
		return refuse("%s() is not one of the table functions that may be used here", clip(name))
	}
	return nil
}

// tablePosition tells whether a table is named at i. FROM and JOIN also stand before plain expressions.
func (p parser) tablePosition(i int) bool {
	switch {
	case p.is(i-1, "JOIN"):
		return !p.is(i-2, "ARRAY")
	case p.is(i-1, "FROM"):
		return !p.is(i-2, "DISTINCT") && !p.withinScalarFrom(i-1)
	}
	return false
}

// withinScalarFrom tells whether token i stands in the parentheses of EXTRACT(… FROM …) or one of its kind.
func (p parser) withinScalarFrom(i int) bool {
	depth := 0
	for i--; i >= 0; i-- {
		switch {
		case p.is(i, ")"):
			depth++
		case p.is(i, "(") && depth > 0:
			depth--
		case p.is(i, "("):
			return p.is(i-1, "EXTRACT") || p.is(i-1, "TRIM") || p.is(i-1, "SUBSTRING") || p.is(i-1, "SUBSTR") || p.is(i-1, "OVERLAY")
		}
	}
	return false
}

func firstRune(s string) string {
	for _, r := range s {
		return string(r)
	}
	return ""
}

func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
