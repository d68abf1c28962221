package portable

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.starlark.net/resolve"
	"go.starlark.net/syntax"

	"github.com/seed256f7767/spade/internal/gym/interp"
)

// Finding is one reason why a source is not portable.
type Finding struct {
	Line, Column int
	Message      string
}

func (f Finding) String() string { return fmt.Sprintf("%d:%d: %s", f.Line, f.Column, f.Message) }

// maxFindings bounds a report; a source of another language would have one for each word.
const maxFindings = 100

// Check returns what is not portable in a source, in the order of the text. A portable source has no findings.
func Check(code string) []Finding {
	options := interp.FileOptions()
	options.Set = true // so that a set is reported by us, with what to use instead
	file, err := options.Parse(interp.Filename, code, 0)
	if err != nil {
		return []Finding{notStarlark(err)}
	}
	// Every name that is bound nowhere counts as built in, so that each is reported with its place and its substitute.
	everything := func(string) bool { return true }
	if err := resolve.File(file, interp.Predeclared, everything); err != nil {
		return []Finding{notStarlark(err)}
	}
	c := &checker{
		lines: strings.Split(code, "\n"), modules: interp.Modules(), builtins: builtins(),
		kinds: infer(file), iterated: map[syntax.Node]bool{}, members: map[syntax.Node]bool{},
	}
	for _, stmt := range file.Stmts {
		syntax.Walk(stmt, c.visit)
	}
	slices.SortStableFunc(c.findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return c.findings[:min(len(c.findings), maxFindings)]
}

func notStarlark(err error) Finding {
	var parse syntax.Error
	var list resolve.ErrorList
	switch {
	case errors.As(err, &parse):
		return Finding{int(parse.Pos.Line), int(parse.Pos.Col), "Starlark does not read this: " + parse.Msg}
	case errors.As(err, &list) && len(list) > 0:
		return Finding{int(list[0].Pos.Line), int(list[0].Pos.Col), "Starlark does not take this: " + list[0].Msg}
	}
	return Finding{1, 1, "Starlark does not read this: " + err.Error()}
}

// checker walks the tree from the root down, so that a parent can say what it allows its children.
type checker struct {
	lines    []string
	modules  map[string][]string
	builtins map[string][]string
	kinds    *kinds
	findings []Finding
	// iterated are expressions that are gone through at once, members the names after a dot.
	iterated, members map[syntax.Node]bool
}

func (c *checker) report(n syntax.Node, format string, args ...any) {
	start, _ := n.Span()
	c.findings = append(c.findings, Finding{int(start.Line), int(start.Col), fmt.Sprintf(format, args...)})
}

func (c *checker) visit(n syntax.Node) bool {
	if s, ok := n.(syntax.Stmt); ok {
		c.indentation(s)
	}
	switch n := n.(type) {
	case *syntax.LoadStmt:
		c.report(n, "Python has no load")
	case *syntax.DefStmt:
		c.parameters(n.Params)
	case *syntax.LambdaExpr:
		c.parameters(n.Params)
	case *syntax.ForStmt:
		c.iterate(n.X)
	case *syntax.ForClause:
		c.iterate(n.X)
	case *syntax.Ident:
		c.name(n)
	case *syntax.Literal:
		c.literal(n)
	case *syntax.DotExpr:
		c.attribute(n)
	case *syntax.CallExpr:
		c.call(n)
	case *syntax.IndexExpr:
		c.notText(n.X, n, "indexing a text counts bytes in Starlark; use text.slice")
		c.noBools(n, n.Y)
	case *syntax.UnaryExpr:
		if n.Op != syntax.NOT && n.X != nil {
			c.noBools(n, n.X)
		}
	case *syntax.SliceExpr:
		c.notText(n.X, n, "slicing a text counts bytes in Starlark; use text.slice")
	case *syntax.BinaryExpr:
		c.operator(n)
	case *syntax.AssignStmt:
		c.augmented(n)
	case *syntax.DictExpr:
		c.keys(n)
	case *syntax.Comprehension:
		if _, isEntry := n.Body.(*syntax.DictEntry); n.Curly && !isEntry {
			c.report(n, "Starlark has no set comprehension")
		}
	}
	return true
}

// indentation: Starlark takes a tab for eight columns, Python refuses to guess.
func (c *checker) indentation(s syntax.Stmt) {
	start, _ := s.Span()
	line := int(start.Line) - 1
	if line < 0 || line >= len(c.lines) {
		return
	}
	text := c.lines[line]
	if indent := text[:len(text)-len(strings.TrimLeft(text, " \t"))]; strings.Contains(indent, "\t") {
		c.report(s, "indentation by tabs")
	}
}

// parameters: a default that can change lives on in Python and is frozen in Starlark.
func (c *checker) parameters(params []syntax.Expr) {
	for _, p := range params {
		def, ok := p.(*syntax.BinaryExpr)
		if !ok {
			continue
		}
		switch unparen(def.Y).(type) {
		case *syntax.ListExpr, *syntax.DictExpr, *syntax.Comprehension, *syntax.CallExpr:
			c.report(def.Y, "a default value that can be changed")
		}
	}
}

func unparen(e syntax.Expr) syntax.Expr {
	for {
		p, ok := e.(*syntax.ParenExpr)
		if !ok {
			return e
		}
		e = p.X
	}
}

func (c *checker) iterate(e syntax.Expr) {
	e = unparen(e)
	c.iterated[e] = true
	c.notText(e, e, "Starlark does not go through a text; use text.chars")
}

func (c *checker) notText(x syntax.Expr, at syntax.Node, message string) {
	if c.kinds.of(x) == text {
		c.report(at, "%s", message)
	}
}

func scope(id *syntax.Ident) resolve.Scope {
	if b, ok := id.Binding.(*resolve.Binding); ok {
		return b.Scope
	}
	return resolve.Undefined
}

// name checks a name that is not a member: what it means must be fixed by the source itself or be the same in both.
func (c *checker) name(id *syntax.Ident) {
	if c.members[id] {
		return
	}
	_, isModule := c.modules[id.Name]
	_, isBuiltin := c.builtins[id.Name]
	switch s := scope(id); {
	case strings.HasPrefix(id.Name, "__"):
		c.report(id, "%s is special in Python", id.Name)
	case id.Name == "assert":
		c.report(id, "assert is a word of Python's grammar")
	case s == resolve.Universal && !isBuiltin:
		c.report(id, "%s is not the same in both languages%s", id.Name, instead(id.Name))
	case s != resolve.Universal && s != resolve.Predeclared && s != resolve.Undefined && (isModule || isBuiltin):
		c.report(id, "%s hides the platform's own", id.Name)
	}
}

func (c *checker) literal(l *syntax.Literal) {
	if l.Token == syntax.BYTES {
		c.report(l, "bytes are not the same in both languages; use a text")
	}
}

// moduleOf returns the module that e names, if it does.
func (c *checker) moduleOf(e syntax.Expr) (string, bool) {
	id, ok := e.(*syntax.Ident)
	if !ok || scope(id) != resolve.Predeclared {
		return "", false
	}
	_, ok = c.modules[id.Name]
	return id.Name, ok
}

func (c *checker) attribute(d *syntax.DotExpr) {
	c.members[d.Name] = true
	if module, ok := c.moduleOf(d.X); ok {
		if !slices.Contains(c.modules[module], d.Name.Name) {
			c.report(d.Name, "there is no %s.%s", module, d.Name.Name)
		}
		return
	}
	switch {
	case c.kinds.of(d.X) == text:
		c.report(d.Name, "methods of texts are not the same in both languages%s", instead(d.Name.Name))
	case !slices.Contains(methods(), d.Name.Name):
		c.report(d.Name, "the method %s is not the same in both languages%s", d.Name.Name, instead(d.Name.Name))
	}
}

func (c *checker) call(call *syntax.CallExpr) {
	name := calledName(call)
	id, isName := call.Fn.(*syntax.Ident)
	_, isModule := c.moduleOf(dotted(call))
	universal := isName && scope(id) == resolve.Universal
	isMethod := !isName && !isModule
	if (universal || isMethod) && slices.Contains(lazy(), name) && !c.iterated[call] {
		c.report(call, "the result of %s is a list in Starlark only; go through it at once, or use list(…)", name)
	}
	for i, arg := range call.Args {
		c.argument(call, name, i, arg, universal, isModule)
	}
}

// dotted is what stands before the dot of the called function.
func dotted(call *syntax.CallExpr) syntax.Expr {
	if d, ok := call.Fn.(*syntax.DotExpr); ok {
		return d.X
	}
	return nil
}

func calledName(call *syntax.CallExpr) string {
	switch fn := call.Fn.(type) {
	case *syntax.Ident:
		return fn.Name
	case *syntax.DotExpr:
		return fn.Name.Name
	}
	return ""
}

func (c *checker) argument(call *syntax.CallExpr, name string, i int, arg syntax.Expr, universal, isModule bool) {
	if key, ok := keyword(arg); ok {
		allowed := c.builtins[name]
		switch {
		case isModule:
			c.report(arg, "functions of the modules take no keywords")
		case universal && !slices.Contains(allowed, "*") && !slices.Contains(allowed, key.Name):
			c.report(arg, "%s takes no keyword %s in both languages", name, key.Name)
		}
		c.members[key] = true
		return
	}
	if !universal {
		return
	}
	if name == "sorted" && i > 0 {
		c.report(arg, "sorted takes its options by keyword")
	}
	if name == "abs" {
		c.noBools(arg, arg)
	}
	if slices.Contains(consumers(), name) {
		e := unparen(arg)
		c.iterated[e] = true
		if several := positional(call) > 1; name != "len" && (!several || name != "min" && name != "max") {
			c.notText(e, e, "Starlark does not go through a text; use text.chars")
		}
	}
}

// positional counts the arguments that have no name.
func positional(call *syntax.CallExpr) int {
	n := 0
	for _, arg := range call.Args {
		if _, ok := keyword(arg); !ok {
			n++
		}
	}
	return n
}

func keyword(arg syntax.Expr) (*syntax.Ident, bool) {
	b, ok := arg.(*syntax.BinaryExpr)
	if !ok || b.Op != syntax.EQ {
		return nil, false
	}
	id, ok := b.X.(*syntax.Ident)
	return id, ok
}

func (c *checker) operator(b *syntax.BinaryExpr) {
	switch b.Op {
	case syntax.PLUS, syntax.MINUS, syntax.STAR, syntax.SLASH, syntax.SLASHSLASH, syntax.PERCENT,
		syntax.AMP, syntax.PIPE, syntax.CIRCUMFLEX, syntax.LTLT, syntax.GTGT:
		c.noBools(b, b.X, b.Y)
	case syntax.EQL, syntax.NEQ, syntax.LT, syntax.LE, syntax.GT, syntax.GE:
		c.compared(b)
	}
	switch b.Op {
	case syntax.PERCENT:
		c.notText(b.X, b, "formatting by % is not the same in both languages; use text.format or text.fixed")
		c.noFloats(b)
	case syntax.SLASHSLASH:
		c.noFloats(b)
	case syntax.LTLT:
		c.report(b, "shifts have a limit in Starlark only; use math.pow")
	case syntax.IN, syntax.NOT_IN:
		c.iterated[unparen(b.Y)] = true
	}
}

// noFloats: the two languages round the quotient of floats at different times.
func (c *checker) noFloats(b *syntax.BinaryExpr) {
	for _, e := range []syntax.Expr{b.X, b.Y} {
		if l, ok := unparen(e).(*syntax.Literal); ok && l.Token == syntax.FLOAT {
			c.report(b, "%s of floats is not the same in both languages; use math.floor", b.Op)
			return
		}
	}
}

func (c *checker) augmented(a *syntax.AssignStmt) {
	switch a.Op {
	case syntax.PERCENT_EQ:
		c.notText(a.LHS, a, "formatting by % is not the same in both languages; use text.format or text.fixed")
	case syntax.LTLT_EQ:
		c.report(a, "shifts have a limit in Starlark only; use math.pow")
	}
}

// keys: Starlark refuses a dictionary that names a key twice, Python takes the last.
func (c *checker) keys(d *syntax.DictExpr) {
	seen := map[any]bool{}
	for _, e := range d.List {
		entry, ok := e.(*syntax.DictEntry)
		if !ok {
			continue
		}
		key, ok := entry.Key.(*syntax.Literal)
		if !ok {
			continue
		}
		if value, isText := key.Value.(string); isText {
			if seen[value] {
				c.report(key, "the key %s twice", key.Raw)
			}
			seen[value] = true
		}
	}
}
