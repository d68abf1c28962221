// Package qdrant is the embedded vector server: the part of Qdrant's gRPC API
// that the platform and ordinary clients use, served from one folder by this
// program itself. It stands in for a Qdrant of one's own, and speaks the same
// protocol, so the code that talks to it is the same in both cases.
//
// Begin with New, Start and Shutdown.
//
// # What it serves
//
// Qdrant/HealthCheck; Collections: Create, Get, List, CollectionExists, Delete,
// UpdateAliases, ListAliases, ListCollectionAliases; Points: Upsert, Get,
// Search, SearchBatch, Query and QueryBatch (nearest), Scroll, Count, Delete,
// SetPayload, OverwritePayload, DeletePayload, ClearPayload, CreateFieldIndex,
// DeleteFieldIndex. Filters: must, should, must_not, min_should; match, range,
// datetime range, values count, has_id, is_empty, is_null, nested. Distances:
// Cosine, Dot, Euclid, Manhattan.
//
// # What differs from Qdrant
//
// Every search is exact. A collection has one unnamed float32 vector a point.
// Settings of HNSW, quantization, optimizers, sharding and replication are kept
// and reported, and change nothing. Everything not listed is refused as
// Unimplemented with its name; nothing is silently ignored that would change an
// answer.
//
// # Durability
//
// With wait=true a write is on disk when it is answered; without it, it is in
// the file (it outlives the process, not the machine) and is answered as
// Acknowledged.
package qdrant
