package embedding

import (
	"slices"

	"go.starlark.net/syntax"
)

func (w *walker) stmt(stmt syntax.Stmt, parent, grand string) string {
	switch s := stmt.(type) {
	case *syntax.DefStmt:
		label := "def"
		if contract(s.Name.Name) {
			label = "def:" + s.Name.Name
		}
		return w.function(label, s.Params, s.Body, parent, grand)
	case *syntax.AssignStmt:
		label := "assign" + s.Op.String()
		return w.note(label, parent, grand, []string{w.expr(s.LHS, label, parent), w.expr(s.RHS, label, parent)})
	case *syntax.ExprStmt:
		if lit, ok := s.X.(*syntax.Literal); ok && lit.Token == syntax.STRING {
			return w.note("doc", parent, grand, nil) // a docstring is a comment
		}
		return w.note("do", parent, grand, []string{w.expr(s.X, "do", parent)})
	case *syntax.ReturnStmt:
		if s.Result == nil {
			return w.note("return", parent, grand, nil)
		}
		return w.note("return", parent, grand, []string{w.expr(s.Result, "return", parent)})
	case *syntax.IfStmt:
		children := append([]string{w.expr(s.Cond, "if", parent)}, w.block(s.True, "if", parent)...)
		if len(s.False) > 0 {
			children = append(append(children, "else"), w.block(s.False, "else", parent)...)
		}
		return w.note("if", parent, grand, children)
	case *syntax.ForStmt:
		children := []string{w.expr(s.Vars, "for", parent), w.expr(s.X, "for", parent)}
		return w.note("for", parent, grand, append(children, w.block(s.Body, "for", parent)...))
	case *syntax.WhileStmt:
		children := []string{w.expr(s.Cond, "while", parent)}
		return w.note("while", parent, grand, append(children, w.block(s.Body, "while", parent)...))
	case *syntax.BranchStmt:
		return w.note(s.Token.String(), parent, grand, nil)
	}
	return w.note("stmt", parent, grand, nil)
}

func (w *walker) expr(e syntax.Expr, parent, grand string) string {
	switch x := e.(type) {
	case *syntax.Ident:
		return w.note(w.name(x.Name), parent, grand, nil)
	case *syntax.Literal:
		return w.literal(x, parent, grand)
	case *syntax.ParenExpr:
		return w.expr(x.X, parent, grand)
	case *syntax.UnaryExpr:
		if x.Op == syntax.MINUS {
			if lit, ok := x.X.(*syntax.Literal); ok {
				return w.literal(lit, parent, grand) // -3 is a number as 3 is
			}
		}
		return w.note("unary"+x.Op.String(), parent, grand, w.all("unary"+x.Op.String(), parent, x.X))
	case *syntax.BinaryExpr:
		label := "op" + x.Op.String()
		return w.note(label, parent, grand, w.all(label, parent, x.X, x.Y))
	case *syntax.CondExpr:
		return w.note("cond", parent, grand, w.all("cond", parent, x.Cond, x.True, x.False))
	case *syntax.DotExpr:
		label := "." + x.Name.Name
		return w.note(label, parent, grand, w.all(label, parent, x.X))
	case *syntax.IndexExpr:
		return w.note("index", parent, grand, append(w.all("index", parent, x.X), w.key(x.Y, "index", parent)))
	case *syntax.SliceExpr:
		return w.note("slice", parent, grand, w.all("slice", parent, x.X, x.Lo, x.Hi, x.Step))
	case *syntax.CallExpr:
		return w.call(x, parent, grand)
	case *syntax.LambdaExpr:
		return w.function("lambda", x.Params, []syntax.Stmt{&syntax.ReturnStmt{Result: x.Body}}, parent, grand)
	}
	return w.display(e, parent, grand)
}

// display is a list, tuple, dict or comprehension. How many elements a literal
// has is a number like any other, so equal neighbours count once.
func (w *walker) display(e syntax.Expr, parent, grand string) string {
	switch x := e.(type) {
	case *syntax.ListExpr:
		return w.note("list", parent, grand, slices.Compact(w.all("list", parent, x.List...)))
	case *syntax.TupleExpr:
		return w.note("tuple", parent, grand, w.all("tuple", parent, x.List...))
	case *syntax.DictExpr:
		var children []string
		for _, item := range x.List {
			entry := item.(*syntax.DictEntry) //nolint:forcetypeassert // the parser puts nothing else there
			w.key(entry.Key, "dict", parent)
			children = append(children, w.expr(entry.Value, "dict", parent))
		}
		slices.Sort(children) // a dict has no order
		return w.note("dict", parent, grand, slices.Compact(children))
	case *syntax.Comprehension:
		children := w.all("comp", parent, x.Body)
		for _, c := range x.Clauses {
			switch cl := c.(type) {
			case *syntax.ForClause:
				children = append(children, w.all("compfor", parent, cl.Vars, cl.X)...)
			case *syntax.IfClause:
				children = append(children, w.all("compif", parent, cl.Cond)...)
			}
		}
		return w.note("comp", parent, grand, children)
	}
	return w.note("expr", parent, grand, nil)
}

func (w *walker) call(x *syntax.CallExpr, parent, grand string) string {
	children := w.all("call", parent, x.Fn)
	for _, a := range x.Args {
		if named, ok := a.(*syntax.BinaryExpr); ok && named.Op == syntax.EQ {
			a = named.Y
		}
		children = append(children, w.expr(a, "call", parent))
	}
	return w.note("call", parent, grand, children)
}

func (w *walker) all(label, parent string, list ...syntax.Expr) []string {
	var out []string
	for _, e := range list {
		if e == nil {
			out = append(out, "none")
			continue
		}
		out = append(out, w.expr(e, label, parent))
	}
	return out
}

// key is a subscript or a dict key: a string there is a name its author chose.
func (w *walker) key(e syntax.Expr, parent, grand string) string {
	if lit, ok := e.(*syntax.Literal); ok && lit.Token == syntax.STRING {
		return w.note("key", parent, grand, nil)
	}
	return w.expr(e, parent, grand)
}

func (w *walker) literal(x *syntax.Literal, parent, grand string) string {
	if s, ok := x.Value.(string); ok {
		addWords(s, w.words)
		return w.note("str", parent, grand, nil)
	}
	return w.note("num", parent, grand, nil)
}
