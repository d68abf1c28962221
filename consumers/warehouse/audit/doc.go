// Package audit compares the warehouse with the log it was filled from. Begin with Compare, which reads both and names every
// row that differs, or with its parts for a log that somebody else reads: Ledger, which adds what the log makes, takes away
// what the warehouse holds and tells which keys differ, and Detail, which compares the rows of a few keys one by one.
//
// A ledger keeps sums of hashes, so the order of rows does not matter and a doubled row shows. ingested_at is left out: it is
// the only column that is not a function of the log.
package audit
