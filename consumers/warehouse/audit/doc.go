// Package audit compares the warehouse with the log it was filled from: row counts and digests per table and key. Begin with
// Log, which folds the log the way the sink should have, Warehouse, which reads what is there, and Compare.
//
// A digest is a sum over rows, so the order of rows does not matter and a doubled row shows. ingested_at is left out: it is
// the only column that is not a function of the log.
package audit
