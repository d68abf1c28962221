package tables

import (
	"fmt"
	"strings"
)

// DedupWindow is how many inserts a table remembers by their token. A batch that is repeated after a crash is recognised
// as long as fewer inserts than this went into the table in between; the claim on the partition covers what lies beyond.
const DedupWindow = 100_000

// Statement is one statement of the warehouse's definition.
type Statement struct {
	Name string // of the object it makes
	SQL  string
}

// Statements makes the database, the tables and the views, each only where it is missing, so that running them again
// changes nothing. Views are replaced: they hold no data.
func (c *Catalogue) Statements() []Statement {
	all := []Statement{{Database, "CREATE DATABASE IF NOT EXISTS " + Database}}
	for _, t := range c.Tables {
		all = append(all, Statement{t.Name, t.create()})
	}
	for _, v := range c.Views {
		all = append(all, Statement{v.Name, v.create()})
	}
	return all
}

// Upgrade turns what a warehouse of an older version holds into this version's, without a row being read: the columns that
// came since are added and the views replaced. Running it again changes nothing.
func (c *Catalogue) Upgrade(from int) []Statement {
	var all []Statement
	for _, t := range c.Tables {
		for i, col := range t.Columns {
			if col.Since > from {
				all = append(all, Statement{t.Name, fmt.Sprintf("ALTER TABLE %s.%s ADD COLUMN IF NOT EXISTS %s AFTER %s",
					Database, t.Name, col.definition(), t.Columns[i-1].Name)})
			}
		}
	}
	for _, v := range c.Views {
		all = append(all, Statement{v.Name, v.create()})
	}
	return all
}

func (t *Table) create() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE IF NOT EXISTS %s.%s\n(\n%s\n)\n", Database, t.Name, columnList(t.Columns))
	if t.Engine != "" {
		fmt.Fprintf(&b, "ENGINE = %s\n", t.Engine)
	} else {
		fmt.Fprintf(&b, "ENGINE = MergeTree\nORDER BY (%s)\nSETTINGS non_replicated_deduplication_window = %d\n",
			strings.Join(t.OrderBy, ", "), DedupWindow)
	}
	fmt.Fprintf(&b, "COMMENT %s", Quote(t.Comment))
	return b.String()
}

func (v *View) create() string {
	return fmt.Sprintf("CREATE OR REPLACE VIEW %s.%s\n(\n%s\n)\nAS %s\nCOMMENT %s",
		Database, v.Name, columnList(v.Columns), strings.TrimSpace(v.Select), Quote(v.Comment))
}

func columnList(columns []Column) string {
	lines := make([]string, 0, len(columns))
	for _, c := range columns {
		lines = append(lines, "    "+c.definition())
	}
	return strings.Join(lines, ",\n")
}

// definition is the column as a statement defines it.
func (c Column) definition() string {
	line := c.Name + " " + c.Type
	if c.Default != "" {
		line += " " + c.Default
	}
	return line + " COMMENT " + Quote(c.comment())
}

// Quote makes a string literal of ClickHouse's SQL.
func Quote(s string) string {
	r := strings.NewReplacer(`\`, `\\`, `'`, `\'`, "\x00", `\0`, "\n", `\n`)
	return "'" + r.Replace(s) + "'"
}
