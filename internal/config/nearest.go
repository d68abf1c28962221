package config

import "strings"

// nearest is the name that a misspelt one most likely means, or "" when none is near. A right last part under a wrong
// section, "iterations" for "run.iterations", is taken for a match.
func nearest(name string, known []string) string {
	last := func(s string) string { return s[strings.LastIndexByte(s, '.')+1:] }
	best, bestCost := "", 1+max(2, len(name)/3)
	for _, k := range known {
		cost := distance(normal(name), normal(k))
		if c := distance(normal(last(name)), normal(last(k))); c < cost {
			cost = c + 1
		}
		if cost < bestCost {
			best, bestCost = k, cost
		}
	}
	return best
}

func normal(s string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(s))
}

// distance is how many insertions, deletions and replacements of a character turn a into b.
func distance(a, b string) int {
	rows := make([][]int, len(a)+1)
	for i := range rows {
		rows[i] = make([]int, len(b)+1)
		rows[i][0] = i
	}
	for j := range rows[0] {
		rows[0][j] = j
	}
	for i := 1; i <= len(a); i++ {
		for j := 1; j <= len(b); j++ {
			replace := rows[i-1][j-1]
			if a[i-1] != b[j-1] {
				replace++
			}
			rows[i][j] = min(rows[i-1][j]+1, rows[i][j-1]+1, replace)
		}
	}
	return rows[len(a)][len(b)]
}
