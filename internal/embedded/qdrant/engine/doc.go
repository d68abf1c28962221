// Package engine is the vector store under the embedded server: collections of
// points with exact search, payload filters and a log on disk. It speaks
// Qdrant's generated message types and knows nothing of gRPC.
//
// Begin with Open, then Engine.Collection and the methods of Collection.
//
// # On disk
//
//	lock            held (flock) by the one process that has the folder open
//	catalogue.json  the collections, their settings, field indexes and aliases;
//	                replaced whole, in one rename, at every change
//	<number>/points.log  one collection's operations (package oplog)
//
// A folder that the catalogue does not name is a leftover of a crash between
// the two steps of creating or deleting a collection, and is removed on Open.
//
// # In memory
//
// Vectors lie in fixed chunks of float32 (no copy when a collection grows);
// payloads stay in the log and are read when a hit is returned or a condition
// has no index. Slots are the row numbers of a collection; a deleted slot is
// used again.
//
// # Locks
//
// Engine.mu guards the catalogue. Collection.write serialises writers over log
// append and flush, so that searches go on during an fsync; Collection.mu guards
// what searches read. Order: Engine.mu, then Collection.write, then
// Collection.mu. A point becomes visible only after its record is as durable as
// the request asked for.
package engine
