package tables

import (
	"strings"

	"github.com/apache/arrow/go/v17/arrow"
)

// Beside makes a database with the tables that a rebuild fills. Their definitions are those of the warehouse: what a writer
// is compared with are the claims of the warehouse's own database.
func (c *Catalogue) Beside(database string) []Statement {
	all := []Statement{{database, "CREATE DATABASE " + database}}
	for _, t := range c.Switched() {
		sql := strings.Replace(t.create(), " "+Database+"."+t.Name, " "+database+"."+t.Name, 1)
		all = append(all, Statement{t.Name, sql})
	}
	return all
}

// Switched lists the tables that a rebuild replaces: all but the claims and the versions of the definitions.
func (c *Catalogue) Switched() []*Table {
	var out []*Table
	for _, t := range c.Tables {
		if t.Name != ClaimsTable && t.Name != SchemaTable {
			out = append(out, t)
		}
	}
	return out
}

// SealedClaims makes a table of claims that takes none, and NewClaims one that takes them all. The constraint's name is what
// a writer is told that tries to claim.
func (c *Catalogue) SealedClaims(database, name, constraint string) Statement {
	s := c.NewClaims(database, name)
	s.SQL = strings.Replace(s.SQL, "\n)\nENGINE", ",\n    CONSTRAINT "+constraint+" CHECK writer = 0\n)\nENGINE", 1)
	return s
}

// NewClaims makes an empty table of claims.
func (c *Catalogue) NewClaims(database, name string) Statement {
	sql := c.byName[ClaimsTable].create()
	return Statement{name, strings.Replace(sql, " "+Database+"."+ClaimsTable, " "+database+"."+name, 1)}
}

// Stamped is the schema of rows that say themselves when they were inserted, in place of who inserts them: the server asks for
// no claim on their partition. See NewStampedSet.
func (t *Table) Stamped() *arrow.Schema {
	fields := t.schema.Fields()
	fields[len(fields)-1] = arrow.Field{Name: "ingested_at", Type: arrow.FixedWidthTypes.Timestamp_us}
	return arrow.NewSchema(fields, nil)
}
