package screen

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width is how many columns text takes.
func Width(text string) int { return uniseg.StringWidth(text) }

// Fit cuts text to at most columns, ending in an ellipsis when something was cut. Grapheme clusters stay whole.
func Fit(text string, columns int) string {
	if columns <= 0 {
		return ""
	}
	if Width(text) <= columns {
		return text
	}
	var b strings.Builder
	used, state := 0, -1
	for text != "" {
		var cluster string
		var width int
		cluster, text, width, state = uniseg.FirstGraphemeClusterInString(text, state)
		if used+width > columns-1 {
			break
		}
		b.WriteString(cluster)
		used += width
	}
	return b.String() + "…"
}

// Pad fills text up to columns with blanks on the right, or on the left when right is set.
func Pad(text string, columns int, right bool) string {
	blanks := strings.Repeat(" ", max(0, columns-Width(text)))
	if right {
		return blanks + text
	}
	return text + blanks
}
