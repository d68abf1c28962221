// Package clickhouse runs the embedded ClickHouse: a child process (package child) that loads libchdb and serves the
// ClickHouse HTTP interface on a loopback address.
//
// Server is the entry point, for the supervisor. The packages below it:
//
//	child     what runs in the child process: `spade __chdb`
//	front     the HTTP interface
//	engine    libchdb, bound without cgo
//	sqlguard  what SQL people may run, on this server and in front of a production one
//
// Clients log in as Config.User, who may do everything, or as Reader, who may only read: that name and its own secret
// are for people's SQL and for other programs.
package clickhouse
