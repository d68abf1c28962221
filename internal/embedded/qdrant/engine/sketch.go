package engine

import (
	"unsafe"

	pb "github.com/qdrant/go-client/qdrant"

	"github.com/seed256f7767/spade/internal/embedded/qdrant/metric"
)

// A search over many vectors is bound by the memory it reads. For the cosine,
// the vectors are kept a second time as sketches of a quarter of their size, and
// a candidate whose sketch shows that it cannot be among the best is passed over
// without reading its vector. What is left is ranked by its vector as ever, so
// answers are exact, bit for bit those of a search without sketches.

// minSketchDim is from where on sketches are worth their memory.
const minSketchDim = 64

// sketches are those of one chunk of vectors.
type sketches struct {
	codes []int8 // SketchBytes(dim) a slot
	rest  []metric.Sketch
}

func newSketches(dim int) sketches {
	return sketches{codes: make([]int8, chunkVectors*metric.SketchBytes(dim)), rest: make([]metric.Sketch, chunkVectors)}
}

func sketchChunkBytes(dim int) int64 {
	return chunkVectors * (int64(metric.SketchBytes(dim)) + int64(unsafe.Sizeof(metric.Sketch{})))
}

// sketched reports whether the collection keeps sketches. Only with the cosine
// are vectors of a known length, which the bound needs.
func (c *Collection) sketched() bool {
	return c.distance == pb.Distance_Cosine && c.dim >= minSketchDim && metric.HasSketches()
}

// sketch keeps the sketch of the vector that a slot now has.
func (c *Collection) sketch(slot uint32, vector []float32) {
	if !c.sketched() {
		return
	}
	chunk, at := c.sketches[slot/chunkVectors], int(slot%chunkVectors)
	width := metric.SketchBytes(c.dim)
	chunk.rest[at] = metric.NewSketch(chunk.codes[at*width:(at+1)*width], vector)
}

// sieve passes over candidates of one search. A nil sieve passes over none.
type sieve struct {
	in    []sketches
	dim   int
	codes []int8
	query metric.Sketch
}

// newSieve makes the sieve of a search for vector; c.mu is held while it is used.
func (c *Collection) newSieve(vector []float32) *sieve {
	if !c.sketched() {
		return nil
	}
	s := &sieve{in: c.sketches, dim: c.dim, codes: make([]int8, metric.SketchBytes(c.dim))}
	s.query = metric.NewSketch(s.codes, vector)
	return s
}

// below reports that the slot's vector certainly ranks below rank.
func (s *sieve) below(slot uint32, rank float32) bool {
	if s == nil {
		return false
	}
	chunk, at, width := &s.in[slot/chunkVectors], int(slot%chunkVectors), len(s.codes)
	return metric.MaxDot(s.query, chunk.rest[at], s.codes, chunk.codes[at*width:(at+1)*width], s.dim) < rank
}
