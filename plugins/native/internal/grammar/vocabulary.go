package grammar

import "fmt"

// Levels is the number of difficulties.
const Levels = 5

// saltSize is the number of values of one salt choice; two of them pick words, facts and wording.
const (
	saltSize = 512
	docSlots = 4
	variants = 3
)

// Modes of joining two mechanics.
const (
	joinNone = iota
	joinThen
	joinAlternate
	joins
)

// Node is one kind of choice. Its tokens are Base … Base+Size-1.
type Node struct {
	Name    string
	Base    int32
	Size    int
	Learned bool // the designer learns a distribution over it; else it stays uniform
}

// Vocabulary numbers every choice of the grammar. Tokens of choices that depend on the mechanic are apart for each.
type Vocabulary struct {
	Nodes []Node
	Size  int32

	mechanic, join, style, limit, echo, memo, document, saltA, saltB int
	level, partner, variant                                          []int
}

// NewVocabulary builds the numbering. It is the same for every process of this version.
func NewVocabulary() *Vocabulary {
	v := &Vocabulary{}
	n := len(mechanics())
	v.mechanic = v.node("mechanic", n, true)
	for _, m := range mechanics() {
		v.level = append(v.level, v.node("level of "+m.name, Levels, true))
		v.partner = append(v.partner, v.node("partner of "+m.name, n, true))
		v.variant = append(v.variant, v.node("variant of "+m.name, variants, true))
	}
	v.join = v.node("join", joins, true)
	v.style = v.node("style", 2, true)
	v.limit = v.node("limit", 2, true)
	v.echo = v.node("echo", 2, true)
	v.memo = v.node("memo", 2, true)
	v.document = v.node("document", docSlots, false)
	v.saltA = v.node("salt a", saltSize, false)
	v.saltB = v.node("salt b", saltSize, false)
	return v
}

func (v *Vocabulary) node(name string, size int, learned bool) int {
	v.Nodes = append(v.Nodes, Node{Name: name, Base: v.Size, Size: size, Learned: learned})
	v.Size += int32(size)
	return len(v.Nodes) - 1
}

// Chooser picks one of a node's choices.
type Chooser func(node int) (choice int, err error)

// Design is one complete set of choices.
type Design struct {
	Mechanic, Level, Variant int
	Join, Partner            int
	PartnerVariant           int
	Tools, Limit, Echo, Memo bool
	Document, SaltA, SaltB   int
}

// Draw makes a design by asking for one choice after the other, in the order of its tokens.
func (v *Vocabulary) Draw(choose Chooser) (Design, error) {
	var d Design
	var err error
	ask := func(node int) int {
		if err != nil {
			return 0
		}
		var c int
		c, err = choose(node)
		return c
	}
	d.Mechanic = ask(v.mechanic)
	if err != nil {
		return d, err
	}
	d.Level = ask(v.level[d.Mechanic])
	d.Variant = ask(v.variant[d.Mechanic])
	d.Join = ask(v.join)
	if d.Join != joinNone {
		d.Partner = ask(v.partner[d.Mechanic])
		if err == nil {
			d.PartnerVariant = ask(v.variant[d.Partner])
		}
	}
	d.Tools = ask(v.style) == 1
	d.Limit = ask(v.limit) == 1
	d.Echo = ask(v.echo) == 1
	d.Memo = ask(v.memo) == 1
	d.Document = ask(v.document)
	d.SaltA, d.SaltB = ask(v.saltA), ask(v.saltB)
	return d, err
}

// Parse reads a design from its tokens.
func (v *Vocabulary) Parse(tokens []int32) (Design, error) {
	next := 0
	d, err := v.Draw(func(node int) (int, error) {
		if next == len(tokens) {
			return 0, fmt.Errorf("design ends after %d tokens, %s is missing", next, v.Nodes[node].Name)
		}
		n := v.Nodes[node]
		c := int(tokens[next] - n.Base)
		if c < 0 || c >= n.Size {
			return 0, fmt.Errorf("token %d at %d is no %s", tokens[next], next, n.Name)
		}
		next++
		return c, nil
	})
	if err == nil && next != len(tokens) {
		err = fmt.Errorf("design has %d tokens, %d expected", len(tokens), next)
	}
	return d, err
}

// NodeOf returns the node of a token, or -1.
func (v *Vocabulary) NodeOf(token int32) int {
	for i, n := range v.Nodes {
		if token >= n.Base && token < n.Base+int32(n.Size) {
			return i
		}
	}
	return -1
}

// IsMechanic, IsLevel and IsPartner tell what a node decides. IsLevel also names the mechanic.
func (v *Vocabulary) IsMechanic(node int) bool { return node == v.mechanic }

// IsLevel reports whether the node decides the level of a mechanic, and of which.
func (v *Vocabulary) IsLevel(node int) (mechanic int, ok bool) {
	for i, n := range v.level {
		if n == node {
			return i, true
		}
	}
	return 0, false
}

// MechanicName names a mechanic.
func MechanicName(i int) string { return mechanics()[i].name }

// Mechanics is the number of mechanics.
func Mechanics() int { return len(mechanics()) }
