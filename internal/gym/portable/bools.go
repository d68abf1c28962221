package portable

import (
	"slices"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"
)

// isBool says whether an expression is a bool for certain.
func isBool(e syntax.Expr) bool {
	switch e := unparen(e).(type) {
	case *syntax.Ident:
		return scope(e) == resolve.Universal && (e.Name == "True" || e.Name == "False")
	case *syntax.UnaryExpr:
		return e.Op == syntax.NOT
	case *syntax.BinaryExpr:
		switch e.Op {
		case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE, syntax.IN, syntax.NOT_IN:
			return true
		case syntax.AND, syntax.OR:
			return isBool(e.X) && isBool(e.Y)
		}
	}
	return false
}

func isNumber(e syntax.Expr) bool {
	if u, ok := unparen(e).(*syntax.UnaryExpr); ok && u.Op == syntax.MINUS {
		e = u.X
	}
	l, ok := unparen(e).(*syntax.Literal)
	return ok && (l.Token == syntax.INT || l.Token == syntax.FLOAT)
}

// noBools: a bool is a number in Python and nothing like one in Starlark.
func (c *checker) noBools(at syntax.Node, operands ...syntax.Expr) {
	if slices.ContainsFunc(operands, isBool) {
		c.report(at, "a bool is a number in Python only; write 1 if … else 0")
	}
}

// compared: a bool equals a number in Python only.
func (c *checker) compared(b *syntax.BinaryExpr) {
	if isBool(b.X) && isNumber(b.Y) || isNumber(b.X) && isBool(b.Y) {
		c.report(b, "a bool is a number in Python only; compare it with True or False")
	}
}
