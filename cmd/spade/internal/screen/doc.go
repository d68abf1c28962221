// Package screen writes text to a terminal: untrusted text with its control characters escaped, columns by display
// width, tables. Begin with Escape and Table.
package screen
