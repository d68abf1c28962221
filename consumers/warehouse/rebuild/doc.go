// Package rebuild makes the warehouse anew from the first record of the log, beside the live one, and switches to it. Begin with
// New and Warehouse.Run.
//
// The new tables are in a database of their own, whose name is new each time. While they are filled nothing changes for
// anybody. Run goes through these stages:
//
//	repairing   what an earlier rebuild left is completed or taken away
//	preparing   the database beside and its tables are made
//	filling     every partition is read from its first record, until little is left
//	fencing     spade._claims is replaced by a table that takes no claims: live writers can neither write nor claim
//	catching up the rest of the log is read
//	deciding    offsets are written, then spade_rebuild_X._switch names the tables: from here on it goes forwards only
//	switching   EXCHANGE TABLES, one table after the other; _offsets last
//	releasing   spade._claims takes claims again: live writers claim, read the new offsets and go on from there
//	dropping    the database beside, with what was exchanged, is dropped
//
// Each of these is one statement or may be repeated. A process that ends before deciding has changed nothing but, perhaps, the
// claims: Repair releases them and drops the database. One that ends after it is completed by Repair: which tables are
// exchanged already follows from their UUIDs. In between writers wait and queries are answered. An insert that was
// being executed when the claims were replaced ends in the table that it began in, which is dropped.
//
// One rebuild is made at a time, which is the caller's to see to. Repair first gives the database of a rebuild that it takes over
// another name: should that process only have been stalled, nothing that it still sends finds a table.
//
// The rows carry their time of insertion instead of a claim, for nobody else knows the database. A repeated event is left out
// as the sink does: a filter of fixed size says which ids may have been before, and those few are looked up.
//
// Files: rebuild.go (stages), database.go (statements), fill.go (partitions side by side), worker.go (events to blocks),
// insert.go, filter.go.
package rebuild
