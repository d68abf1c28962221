package embedding

import (
	"context"
	"crypto/sha256"
	"sync"
)

// Cached remembers the vectors of the last texts: the duplicate check, the
// coverage of a design and its projection all ask for the same source.
type Cached struct {
	Embedder

	size int

	mu   sync.Mutex // guards the following
	ring [][sha256.Size]byte
	next int
	at   map[[sha256.Size]byte][]float32
}

// NewCached remembers up to size vectors of an embedder.
func NewCached(e Embedder, size int) *Cached {
	return &Cached{Embedder: e, size: size, at: map[[sha256.Size]byte][]float32{}}
}

// Embed implements Embedder. The vectors must not be changed.
func (c *Cached) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var missing []string
	var places []int
	for i, text := range texts {
		if out[i] = c.get(key(text, kind)); out[i] == nil {
			missing, places = append(missing, text), append(places, i)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	found, err := c.Embedder.Embed(ctx, missing, kind)
	if err != nil {
		return nil, err
	}
	for i, v := range found {
		out[places[i]] = v
		c.put(key(missing[i], kind), v)
	}
	return out, nil
}

func key(text string, kind Kind) [sha256.Size]byte {
	return sha256.Sum256([]byte(string(kind) + "\x00" + text))
}

func (c *Cached) get(k [sha256.Size]byte) []float32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at[k]
}

func (c *Cached) put(k [sha256.Size]byte, v []float32) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, known := c.at[k]; known || c.size < 1 {
		return
	}
	if len(c.ring) < c.size {
		c.ring = append(c.ring, k)
	} else {
		delete(c.at, c.ring[c.next])
		c.ring[c.next] = k
		c.next = (c.next + 1) % c.size
	}
	c.at[k] = v
}
