// Package tables defines the warehouse once: every table and view with the type, the unit and the meaning of each column.
// The definitions yield the ClickHouse statements (Statements) and the Arrow schema (Table.Schema), and a Set turns decoded
// events into Arrow record batches of them, one builder a table, with no other row type in between.
//
// Begin with New, which returns the catalogue, and with Set. The converters are in the convert_*.go files, one per topic;
// a new column is a line in a define_*.go file and a call in the converter, in the same order.
//
// A name that users query is either a table that only the sink appends to or a view over such tables: runs, environments,
// documents and policies need more than one event per row. Every row carries the ids and the place of the event it came
// from, so that any of them can be traced to the log.
package tables
