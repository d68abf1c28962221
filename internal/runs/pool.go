package runs

import (
	"bytes"
	"fmt"

	"github.com/seed256f7767/spade/schemas/spadepb"
)

// shownEntries is how many entries of each sort a difference names.
const shownEntries = 3

// diffPool names what differs between two lists of entries.
func diffPool(have, want []*spadepb.PoolEntry) []string {
	held := map[string]*spadepb.PoolEntry{}
	for _, e := range have {
		held[e.GetName()] = e
	}
	var added, changed, gone notes
	for _, e := range want {
		old := held[e.GetName()]
		delete(held, e.GetName())
		if old == nil {
			added.add(e.GetName())
		} else if what := diffEntry(old, e); what != "" {
			changed.add(e.GetName() + " (" + what + ")")
		}
	}
	for _, e := range have {
		if held[e.GetName()] != nil {
			gone.add(e.GetName())
		}
	}
	var differs []string
	for _, n := range []struct {
		format string
		notes  notes
	}{{"it has not %s", added}, {"asked for without %s", gone}, {"another content of %s", changed}} {
		if n.notes.count > 0 {
			differs = append(differs, fmt.Sprintf(n.format, n.notes))
		}
	}
	return differs
}

// diffEntry says what differs between two entries of one name; empty when nothing does.
func diffEntry(a, b *spadepb.PoolEntry) string {
	switch {
	case a.GetPackageVersion() != b.GetPackageVersion():
		return fmt.Sprintf("%s %s, asked for %s", a.GetPackage(), a.GetPackageVersion(), b.GetPackageVersion())
	case a.GetPackage() != b.GetPackage():
		return fmt.Sprintf("package %q, asked for %q", a.GetPackage(), b.GetPackage())
	case a.GetRuntime() != b.GetRuntime():
		return fmt.Sprintf("runtime %s, asked for %s", a.GetRuntime(), b.GetRuntime())
	case !bytes.Equal(a.GetCodeSha256(), b.GetCodeSha256()):
		return "its source"
	case a.GetSeedsBounded() != b.GetSeedsBounded() || a.GetSeedFrom() != b.GetSeedFrom() || a.GetSeedTo() != b.GetSeedTo():
		return "its env seeds"
	}
	return ""
}

// notes is a list that names its first items and counts the others.
type notes struct {
	text  string
	count int
}

func (n *notes) add(item string) {
	n.count++
	switch {
	case n.count == 1:
		n.text = item
	case n.count <= shownEntries:
		n.text += ", " + item
	}
}

func (n notes) String() string {
	if n.count > shownEntries {
		return fmt.Sprintf("%s and %d more", n.text, n.count-shownEntries)
	}
	return n.text
}
