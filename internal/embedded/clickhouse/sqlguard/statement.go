package sqlguard

import (
	"errors"
	"strings"
)

// Statement is what a server needs to know of one statement.
type Statement struct {
	// Verb is the first keyword in upper case, past opening parentheses.
	Verb string
	// Text is the statement without semicolons and comments after it.
	Text string
	// Output tells whether the verb is one that prints rows, so that FORMAT and INTO OUTFILE may follow.
	Output bool
	// Format is the format that the statement itself names, in FORMAT clause or INSERT. Empty: none.
	Format string
	// OutFile tells whether INTO OUTFILE stands in the statement.
	OutFile bool

	cut int // where an INTO OUTFILE clause would go: before FORMAT, or at the end of Text
	end int // the end of the FORMAT clause, cut when there is none
}

// Errors of Parse.
var (
	ErrEmpty = errors.New("empty query")
	ErrMany  = errors.New("exactly one statement is allowed")
)

var outputVerbs = map[string]bool{
	"SELECT": true, "WITH": true, "FROM": true, "SHOW": true, "DESCRIBE": true, "DESC": true, "EXISTS": true,
	"EXPLAIN": true, "CHECK": true, "VALUES": true,
}

// Parse takes a text that holds exactly one statement apart.
func Parse(sql string) (Statement, error) {
	all, err := tokens(sql)
	if err != nil {
		return Statement{}, err
	}
	all, err = single(sql, all)
	if err != nil {
		return Statement{}, err
	}
	s := Statement{Verb: verb(sql, all), Text: sql[:all[len(all)-1].end]}
	s.Output = outputVerbs[s.Verb]
	s.cut, s.end = len(s.Text), len(s.Text)
	p := parser{sql: sql, all: all}
	for i := range all {
		if p.is(i, "INTO") && p.is(i+1, "OUTFILE") {
			s.OutFile = true
		}
	}
	if at := p.formatClause(); s.Output && at >= 0 {
		s.Format = unquote(p.text(at + 1))
		s.cut, s.end = all[at].start, all[at+1].end
	}
	return s, nil
}

// WithOutput is the statement's text with an output clause, such as "INTO OUTFILE 'x'", and the given format.
func (s Statement) WithOutput(clause, format string) string {
	return s.Text[:s.cut] + "\n" + clause + " FORMAT " + format + s.Text[s.end:]
}

// single cuts the semicolons at the end, and fails when there is no statement or a second one.
func single(sql string, all []token) ([]token, error) {
	for len(all) > 0 && sql[all[len(all)-1].start] == ';' && all[len(all)-1].kind == punct {
		all = all[:len(all)-1]
	}
	if len(all) == 0 {
		return nil, ErrEmpty
	}
	for _, t := range all {
		if t.kind == punct && sql[t.start] == ';' {
			return nil, ErrMany
		}
	}
	return all, nil
}

func verb(sql string, all []token) string {
	for _, t := range all {
		if t.kind == punct && sql[t.start] == '(' {
			continue
		}
		if t.kind == word {
			return strings.ToUpper(sql[t.start:t.end])
		}
		break
	}
	return ""
}

// parser gives its tokens by index; an index outside is no token.
type parser struct {
	sql string
	all []token
}

func (p parser) has(i int, k kind) bool { return i >= 0 && i < len(p.all) && p.all[i].kind == k }

func (p parser) text(i int) string {
	if i < 0 || i >= len(p.all) {
		return ""
	}
	return p.sql[p.all[i].start:p.all[i].end]
}

// is tells whether token i is the given keyword or punctuation.
func (p parser) is(i int, s string) bool {
	return (p.has(i, word) || p.has(i, punct)) && strings.EqualFold(p.text(i), s)
}

// formatClause finds the FORMAT of a query: outside parentheses, with a name behind it and then the end or SETTINGS.
func (p parser) formatClause() int {
	depth := 0
	found := -1
	for i := range p.all {
		switch {
		case p.is(i, "(") || p.is(i, "[") || p.is(i, "{"):
			depth++
		case p.is(i, ")") || p.is(i, "]") || p.is(i, "}"):
			depth--
		case depth == 0 && i > 0 && p.is(i, "FORMAT") && p.isName(i+1) && (i+2 == len(p.all) || p.is(i+2, "SETTINGS")):
			found = i
		}
	}
	return found
}

func (p parser) isName(i int) bool { return p.has(i, word) || p.has(i, quoted) }

// unquote gives the name that a word or a quoted identifier stands for. Escapes other than a doubled quote and an
// escaped quote or backslash stay as they are written.
func unquote(s string) string {
	if s == "" || s[0] != '"' && s[0] != '`' {
		return s
	}
	q := s[:1]
	s = s[1 : len(s)-1]
	return strings.NewReplacer(q+q, q, `\`+q, q, `\\`, `\`).Replace(s)
}

// ReplaceWord puts text in place of every bare word in sql that reads name, outside quotes and comments.
func ReplaceWord(sql, name, text string) string {
	all, err := tokens(sql)
	if err != nil {
		return sql
	}
	var out strings.Builder
	last := 0
	for _, t := range all {
		if t.kind == word && strings.EqualFold(sql[t.start:t.end], name) {
			out.WriteString(sql[last:t.start] + text)
			last = t.end
		}
	}
	return out.String() + sql[last:]
}
