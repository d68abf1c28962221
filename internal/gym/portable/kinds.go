package portable

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// kind is what is known of the value of an expression without running it.
type kind uint8

const (
	unknown kind = iota
	texts        // a list of texts
	text
)

// kinds infers which variables hold texts, without regard to the order of the statements: a variable that is given a text
// anywhere counts as one. Unknown stays unknown: the checker refuses only what it can see.
type kinds struct {
	vars    map[*syntax.Ident]kind // by the first binding use
	returns map[*syntax.Ident]kind // of functions, likewise
	changed bool
}

// infer goes through the source until nothing new is found.
func infer(file *syntax.File) *kinds {
	k := &kinds{vars: map[*syntax.Ident]kind{}, returns: map[*syntax.Ident]kind{}}
	for {
		k.changed = false
		for _, s := range file.Stmts {
			k.statement(s)
		}
		if !k.changed {
			return k
		}
	}
}

func variable(id *syntax.Ident) *syntax.Ident {
	if b, ok := id.Binding.(*resolve.Binding); ok && b.First != nil {
		return b.First
	}
	return nil
}

func (k *kinds) learn(table map[*syntax.Ident]kind, id *syntax.Ident, what kind) {
	if id != nil && what > table[id] {
		table[id] = what
		k.changed = true
	}
}

func (k *kinds) statement(s syntax.Stmt) {
	var function *syntax.DefStmt
	if d, ok := s.(*syntax.DefStmt); ok {
		function = d
		// The second parameter of step is the agent's action.
		if d.Name.Name == "step" && len(d.Params) >= 2 {
			if id, ok := d.Params[1].(*syntax.Ident); ok {
				k.learn(k.vars, variable(id), text)
			}
		}
	}
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.DefStmt:
			if n != function {
				k.statement(n)
				return false
			}
		case *syntax.ReturnStmt:
			if function != nil && n.Result != nil {
				k.learn(k.returns, variable(function.Name), k.of(n.Result))
			}
		case *syntax.AssignStmt:
			k.assign(n.LHS, k.of(n.RHS))
		case *syntax.ForStmt:
			k.element(n.Vars, n.X)
		case *syntax.ForClause:
			k.element(n.Vars, n.X)
		}
		return true
	})
}

func (k *kinds) assign(to syntax.Expr, what kind) {
	if id, ok := unparen(to).(*syntax.Ident); ok {
		k.learn(k.vars, variable(id), what)
	}
}

func (k *kinds) element(vars, of syntax.Expr) {
	if k.of(of) == texts {
		k.assign(vars, text)
	}
}

// of returns what is known of an expression.
func (k *kinds) of(e syntax.Expr) kind {
	switch e := unparen(e).(type) {
	case *syntax.Literal:
		if e.Token == syntax.STRING {
			return text
		}
	case *syntax.Ident:
		return k.vars[variable(e)]
	case *syntax.CondExpr:
		return max(k.of(e.True), k.of(e.False))
	case *syntax.BinaryExpr:
		return k.operation(e)
	case *syntax.ListExpr:
		return k.all(e.List)
	case *syntax.Comprehension:
		if !e.Curly && k.of(e.Body) == text {
			return texts
		}
	case *syntax.IndexExpr:
		if k.of(e.X) == texts {
			return text
		}
	case *syntax.SliceExpr:
		return k.of(e.X)
	case *syntax.CallExpr:
		return k.result(e)
	}
	return unknown
}

func (k *kinds) all(items []syntax.Expr) kind {
	for _, item := range items {
		if k.of(item) != text {
			return unknown
		}
	}
	if len(items) == 0 {
		return unknown
	}
	return texts
}

func (k *kinds) operation(b *syntax.BinaryExpr) kind {
	switch b.Op {
	case syntax.PLUS, syntax.STAR, syntax.OR, syntax.AND:
		return max(k.of(b.X), k.of(b.Y))
	case syntax.PERCENT:
		return k.of(b.X)
	}
	return unknown
}

func (k *kinds) result(call *syntax.CallExpr) kind {
	switch fn := call.Fn.(type) {
	case *syntax.Ident:
		if (fn.Name == "sorted" || fn.Name == "list") && scope(fn) == resolve.Universal && len(call.Args) > 0 {
			return k.of(call.Args[0])
		}
		return k.returns[variable(fn)]
	case *syntax.DotExpr:
		module, ok := fn.X.(*syntax.Ident)
		if !ok || scope(module) != resolve.Predeclared {
			return unknown
		}
		name := module.Name + "." + fn.Name.Name
		switch {
		case slices.Contains(returnsText(), name):
			return text
		case slices.Contains(returnsTexts(), name):
			return texts
		case (name == "rng.shuffled" || name == "rng.sample") && len(call.Args) > 0:
			return k.of(call.Args[0])
		case name == "rng.choice" && len(call.Args) > 0 && k.of(call.Args[0]) == texts:
			return text
		}
	}
	return unknown
}
