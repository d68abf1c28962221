package embedding

import (
	"strings"

	"go.starlark.net/syntax"
)

// addStarlark reads a source as Starlark; false means it is none, and nothing
// was added.
func addStarlark(source string, shape, words *bag) bool {
	if tooDeep(source) {
		return false
	}
	opts := syntax.FileOptions{Set: true, While: true, TopLevelControl: true, GlobalReassign: true, Recursion: true}
	file, err := opts.Parse("env.star", source, 0)
	if err != nil {
		return false
	}
	w := walker{shape: shape, words: words, helpers: map[string]bool{}, globals: map[string]bool{}}
	for _, stmt := range file.Stmts {
		w.declare(stmt)
	}
	for _, stmt := range file.Stmts {
		w.stmt(stmt, "module", "")
	}
	return true
}

// maxBrackets is the nesting of brackets over which a source goes to the
// tokeniser: the parser recurses at each, and a source from outside must not be
// able to exhaust the stack.
const maxBrackets = 200

func tooDeep(source string) bool {
	depth := 0
	for i := range len(source) {
		switch source[i] {
		case '(', '[', '{':
			if depth++; depth > maxBrackets {
				return true
			}
		case ')', ']', '}':
			depth = max(0, depth-1)
		}
	}
	return false
}

// walker labels the nodes of a syntax tree and adds a feature for each node
// with its children, for each chain of three, and for neighbouring statements.
type walker struct {
	shape, words     *bag
	helpers, globals map[string]bool
	params, locals   map[string]bool // of the function being read
}

// Weights of the kinds of feature: the more a feature holds, the more it tells.
const (
	weightNode  = 1
	weightLocal = 3 // a node with its children
	weightChain = 2 // a node with its parent and grandparent
	weightPair  = 3 // two statements in a row
)

// contract are the names of functions that every environment has; they keep
// their names, others are helpers.
func contract(name string) bool {
	switch name {
	case "reset", "step", "hint", "verify", "solve", "META":
		return true
	}
	return false
}

func (w *walker) declare(stmt syntax.Stmt) {
	switch s := stmt.(type) {
	case *syntax.DefStmt:
		w.helpers[s.Name.Name] = true
	case *syntax.AssignStmt:
		for _, name := range assigned(s.LHS) {
			w.globals[name] = true
		}
	}
}

// assigned are the plain names on the left of an assignment.
func assigned(lhs syntax.Expr) []string {
	switch x := lhs.(type) {
	case *syntax.Ident:
		return []string{x.Name}
	case *syntax.ParenExpr:
		return assigned(x.X)
	case *syntax.TupleExpr:
		return assignedAll(x.List)
	case *syntax.ListExpr:
		return assignedAll(x.List)
	}
	return nil
}

func assignedAll(list []syntax.Expr) []string {
	var out []string
	for _, x := range list {
		out = append(out, assigned(x)...)
	}
	return out
}

// name is the role of an identifier: what it is, not what it is called.
func (w *walker) name(n string) string {
	switch {
	case w.params[n]:
		return "param"
	case w.locals[n]:
		return "local"
	case contract(n):
		return n
	case w.helpers[n]:
		return "helper"
	case w.globals[n]:
		return "global"
	}
	return n // predeclared: rng, text, json, math, len, range, …
}

// note records a node with its children under its parents, and returns its
// label for the node above.
func (w *walker) note(label, parent, grand string, children []string) string {
	w.shape.add("n "+label, weightNode)
	w.shape.add("l "+label+"("+strings.Join(children, ",")+")", weightLocal)
	if parent != "" {
		w.shape.add("c "+grand+">"+parent+">"+label, weightChain)
	}
	return label
}

func (w *walker) block(stmts []syntax.Stmt, parent, grand string) []string {
	previous := "^"
	var labels []string
	for _, s := range stmts {
		label := w.stmt(s, parent, grand)
		w.shape.add("p "+previous+";"+label, weightPair)
		previous = label
		labels = append(labels, label)
	}
	w.shape.add("p "+previous+";$", weightPair)
	return labels
}

// function reads a def or lambda in a scope of its own.
func (w *walker) function(label string, params []syntax.Expr, body []syntax.Stmt, parent, grand string) string {
	outerParams, outerLocals := w.params, w.locals
	w.params, w.locals = map[string]bool{}, map[string]bool{}
	for n := range outerParams {
		w.params[n] = true
	}
	for n := range outerLocals {
		w.locals[n] = true
	}
	children := []string{}
	for _, p := range params {
		switch x := p.(type) {
		case *syntax.Ident:
			w.params[x.Name] = true
		case *syntax.BinaryExpr: // name=default
			for _, n := range assigned(x.X) {
				w.params[n] = true
			}
			children = append(children, w.expr(x.Y, label, parent))
		case *syntax.UnaryExpr: // *args, **kwargs
			for _, n := range assigned(x.X) {
				w.params[n] = true
			}
		}
	}
	for _, s := range body {
		w.declareLocals(s)
	}
	children = append(children, w.block(body, label, parent)...)
	w.params, w.locals = outerParams, outerLocals
	return w.note(label, parent, grand, children)
}

func (w *walker) declareLocals(stmt syntax.Stmt) {
	syntax.Walk(stmt, func(n syntax.Node) bool {
		switch x := n.(type) {
		case *syntax.AssignStmt:
			for _, name := range assigned(x.LHS) {
				w.locals[name] = true
			}
		case *syntax.ForStmt:
			for _, name := range assigned(x.Vars) {
				w.locals[name] = true
			}
		case *syntax.ForClause:
			for _, name := range assigned(x.Vars) {
				w.locals[name] = true
			}
		case *syntax.DefStmt:
			w.locals[x.Name.Name] = true
			return false
		}
		return true
	})
}
