package audit

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// compareRows pairs the rows of both sides: first the equal ones, then those of the same event and place.
func compareRows(k Key, log, held []row) []RowDifference {
	left, more := subtract(log, held)
	var out []RowDifference
	for _, l := range left {
		i := slices.IndexFunc(more, func(h row) bool { return bytes.Equal(h.identity, l.identity) })
		if i < 0 && len(left) == len(more) {
			i = slices.IndexFunc(more, func(h row) bool { return h.event == l.event })
		}
		if i < 0 {
			out = append(out, l.difference(k, Missing))
			continue
		}
		out = append(out, changed(k, l, more[i]))
		more = slices.Delete(more, i, i+1)
	}
	for _, h := range more {
		kind := Phantom
		if slices.ContainsFunc(log, func(l row) bool { return bytes.Equal(l.identity, h.identity) }) {
			kind = Doubled
		}
		out = append(out, h.difference(k, kind))
	}
	return out
}

// subtract leaves what only one side has.
func subtract(log, held []row) (left, more []row) {
	have := map[string]int{}
	for _, h := range held {
		have[string(h.encoded)]++
	}
	for _, l := range log {
		if have[string(l.encoded)] > 0 {
			have[string(l.encoded)]--
			continue
		}
		left = append(left, l)
	}
	for _, h := range slices.Backward(held) {
		if have[string(h.encoded)] > 0 {
			have[string(h.encoded)]--
			more = append(more, h)
		}
	}
	slices.Reverse(more)
	return left, more
}

func (r row) difference(k Key, kind string) RowDifference {
	return RowDifference{
		Key: k, Table: r.table.Name, Kind: kind, EventID: r.event, Topic: r.topic, Partition: r.partition, Offset: r.offset, HeldAt: r.offset,
	}
}

func changed(k Key, l, h row) RowDifference {
	d := l.difference(k, Changed)
	d.HeldAt = h.offset
	for i, name := range l.table.Stored() {
		if l.cells[i] == h.cells[i] {
			continue
		}
		if d.Columns++; d.Columns == 1 {
			d.Column = name
			d.Log, d.Warehouse = around(l.cells[i], h.cells[i])
		}
	}
	if d.Columns == 0 {
		d.Column, d.Log, d.Warehouse = "a value", "one", "another" // they print alike, such as two NaN
	}
	return d
}

// shown is how many characters of a value are shown.
const shown = 60

// around quotes two values from shortly before the place where they differ.
func around(a, b string) (string, string) {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	from := max(0, n-shown/2)
	cut := func(s string) string {
		if len(s) <= shown {
			return fmt.Sprintf("%q", s)
		}
		from := min(from, len(s))
		end := min(len(s), from+shown)
		q := fmt.Sprintf("%q", strings.ToValidUTF8(s[from:end], ""))
		if from > 0 {
			q = "…" + q
		}
		if end < len(s) {
			q += "…"
		}
		return q
	}
	return cut(a), cut(b)
}
