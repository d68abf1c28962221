// Package front serves the ClickHouse HTTP interface over an engine.
//
// Handler is the entry point. A request is one statement on a fresh handle of the engine:
//
//   - A query (SELECT, SHOW, …) is given an INTO OUTFILE clause that names a pipe in the temp folder, and what comes
//     out is passed on. So every format streams as one document, and a client that reads slowly slows the engine.
//     Up to Config.Buffer bytes are held back, so that a query that fails early gets a proper error status.
//   - An INSERT with data is cut into its head and its data, which goes to the engine as it arrives.
//   - Everything else runs whole.
//
// A request whose client goes away is stopped. The greeting of clickhouse-go is answered by hand, see hello.go.
package front
