// Package sqlview runs a person's SQL on the warehouse and writes the answer: as a table, or in a format that other
// programs read. One reading statement is let through, nothing else. Begin with Query.
package sqlview
