package audit

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Tally is how many rows a key has in a table, and the sum of their hashes.
type Tally struct {
	Rows int64
	Sum  [4]uint64
}

func (t *Tally) add(row []byte) {
	h := sha256.Sum256(row)
	for i := range t.Sum {
		t.Sum[i] += binary.LittleEndian.Uint64(h[8*i:])
	}
	t.Rows++
}

// Tallies is by table, then by key: the ids of the record that the rows came from, joined by a slash, as far as the table
// has them.
type Tallies map[string]map[string]Tally

func (t Tallies) add(table, key string, row []byte) {
	keys := t[table]
	if keys == nil {
		keys = map[string]Tally{}
		t[table] = keys
	}
	tally := keys[key]
	tally.add(row)
	keys[key] = tally
}

// Rows is the number of rows of a table.
func (t Tallies) Rows(table string) int64 {
	var n int64
	for _, tally := range t[table] {
		n += tally.Rows
	}
	return n
}

// Difference is a key whose rows are not the same in the log and in the warehouse.
type Difference struct {
	Table, Key     string
	Log, Warehouse int64 // rows; equal when the rows differ in content
}

// String names the difference.
func (d Difference) String() string {
	if d.Log == d.Warehouse {
		return fmt.Sprintf("%s %s: %d rows differ from the log's", d.Table, d.Key, d.Log)
	}
	return fmt.Sprintf("%s %s: %d rows in the log, %d in the warehouse", d.Table, d.Key, d.Log, d.Warehouse)
}

// Compare lists every difference, sorted.
func Compare(log, warehouse Tallies) []Difference {
	var out []Difference
	seen := map[string]bool{}
	check := func(table, key string) {
		if seen[table+" "+key] {
			return
		}
		seen[table+" "+key] = true
		a, b := log[table][key], warehouse[table][key]
		if a != b {
			out = append(out, Difference{Table: table, Key: key, Log: a.Rows, Warehouse: b.Rows})
		}
	}
	for _, side := range []Tallies{log, warehouse} {
		for table, keys := range side {
			for key := range keys {
				check(table, key)
			}
		}
	}
	slices.SortFunc(out, func(a, b Difference) int {
		return cmp.Or(strings.Compare(a.Table, b.Table), strings.Compare(a.Key, b.Key))
	})
	return out
}
