// Package vector is the platform's only way to a vector store: Qdrant's gRPC
// protocol, through its Go client, to the embedded server or to a Qdrant of the
// user's own alike.
//
// Begin with New, then EnsureCollections, Upsert and Search.
//
// # Scores
//
// A server's score depends on the order in which its machine code adds numbers
// up. A decision taken on it (a duplicate is refused at a threshold) could
// differ between two servers that hold the same vectors. So Search asks for
// exact hits, some more than wanted, and computes every cosine again here from
// the returned vectors, in float64, in index order, rounded to 1e-6; ties are
// broken by id. Vectors are normalised here as well before they are stored, so
// that every server keeps the same bits.
//
// # Collections
//
// A collection's name carries the embedding model and the vector size, so a
// change of model makes a new collection instead of failing every write of the
// old one. Payload indexes are made with it, before any point. Its metadata
// holds a generation that is new whenever the collection is: a projection that
// keeps its position under that generation starts over when the store is lost.
package vector
