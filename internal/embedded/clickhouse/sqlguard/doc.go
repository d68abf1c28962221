// Package sqlguard reads ClickHouse SQL well enough to decide what may run and where a statement's parts are.
//
// Check is for SQL that people or programs send: it lets through exactly one reading statement that cannot write a
// file, read the host or reach the network. readonly=1 alone does not see to that: SELECT … INTO OUTFILE writes under
// it, file() reads under it. Both layers are needed, so callers also pass Limits.Settings to the server. Check
// would rather refuse what it does not understand.
//
// Parse is for the server: where an INSERT's data begins, and where the output clauses of a query go.
package sqlguard
