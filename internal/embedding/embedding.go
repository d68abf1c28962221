package embedding

import (
	"context"
	"fmt"
)

// Kind says what a text is and what its vector will be compared with.
type Kind string

// The kinds of text.
const (
	// Document is prose, compared with prose.
	Document Kind = "document"
	// Code is an environment's source, compared with sources.
	Code Kind = "code"
	// CodeQuery is prose that is compared with sources: it finds those that speak
	// of the same things, whatever their shape.
	CodeQuery Kind = "code_query"
)

// DefaultDuplicateThreshold is the similarity from which two sources count as
// near-duplicates under the built-in embedder.
const DefaultDuplicateThreshold = 0.97

// SameKindSimilarity is the similarity from which two sources have the same
// mechanic and some of its wording, whatever they are about, under the built-in
// embedder.
const SameKindSimilarity = 0.80

// Embedder turns texts into vectors of length one. It may be called
// concurrently. The same text and kind give the same vector.
type Embedder interface {
	// Model names what made the vectors; vectors of different models are never
	// compared. It is part of a collection's name.
	Model() string
	// Dim is the length of every vector.
	Dim() int
	// Embed returns one vector a text, in order.
	Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error)
}

// UnknownKindError reports a kind that is none of this package's.
type UnknownKindError struct{ Kind Kind }

// Error implements error.
func (e *UnknownKindError) Error() string {
	return fmt.Sprintf("embedding kind %q is none of %q, %q, %q", e.Kind, Document, Code, CodeQuery)
}
