// Package child is the process that holds the embedded ClickHouse: `spade __chdb`.
//
// Main is its entry point. Its parent (package clickhouse) gives it a folder, the library and an address as
// arguments, and the users' secrets as one line of JSON on standard input; it answers with one line of JSON on standard
// output (Ready) and serves the ClickHouse HTTP interface until standard input ends, which also happens when its
// parent dies in any way. On Linux the kernel kills it as well.
//
// Before it loads the library it gives up what it does not need, where the kernel can (Landlock): it may then write
// its own folder only, read the system's files but nobody's home, start no programs and open no TCP connections.
package child
