// Package memory projects accepted environments and the documents of the corpus
// into the vector store, and answers what the designer asks of them: neighbours
// of a text, how much is remembered, and the texts of documents.
//
// Begin with New, Open and Handler for the projection (memory.go, processor.go),
// and with Count, Near, Documents and NearDocuments for reading (recall.go).
//
// # Projection
//
// An environment becomes a point when its acceptance is read: the source comes
// from the design before it in the same partition, so the group commits no
// further than the oldest design that has not ended. A design that has not ended
// 10 000 records later is taken for abandoned. A document becomes a point when
// it is ingested; a withdrawn one keeps its id and loses its text and vector.
//
// The first record about a thing wins: a point that is there is never written
// again from another record, so reading any part of the log again changes
// nothing. The store itself sees to that, so it also holds for a writer that
// looked, was stopped while another one took its partition over, and wakes up:
// a withdrawn text does not come back. Points are durable before their offsets
// are committed.
//
// A text that the embedder refuses goes to the dead letters and gets a vector of
// zeros, because designers wait for every point.
//
// The group's name carries the generation of the collections. A store that was
// lost, or another embedding model, has new collections, hence a group without
// offsets, hence a projection from the first record.
//
// # Vectors of an endpoint
//
// With Settings.Keep the embedder's answers cannot be computed again, so a
// vector is first appended as EmbeddingComputed and the point is written when
// that record is read back. The endpoint is asked only for what has no such
// record once the partition is read to its end: a rebuild needs no endpoint.
package memory
