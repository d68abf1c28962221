// Package datadir is the layout of a data folder: its format number, its
// secrets, the addresses its services had last, its lock and its logs.
//
// Begin at Open. A folder belongs to one supervisor at a time, which holds
// Lock; what is in the files is written by it alone.
package datadir
