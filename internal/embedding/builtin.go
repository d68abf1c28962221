package embedding

import (
	"context"
)

const (
	builtinModel = "spade-hash-1"
	builtinDim   = 256
	// shapeDim of the dimensions hold a source's shape, the rest its words.
	shapeDim = 128
	// shapeShare is the part of a similarity of sources that comes from their
	// shape, in hundredths.
	shapeShare = 70
)

// Builtin is the embedder that needs nothing. Its zero value is ready.
type Builtin struct{}

var _ Embedder = Builtin{}

// NewBuiltin makes the built-in embedder.
func NewBuiltin() Builtin { return Builtin{} }

// Model implements Embedder. The number in it changes whenever a vector does.
func (Builtin) Model() string { return builtinModel }

// Dim implements Embedder.
func (Builtin) Dim() int { return builtinDim }

// Embed implements Embedder.
func (Builtin) Embed(ctx context.Context, texts []string, kind Kind) ([][]float32, error) {
	out := make([][]float32, len(texts))
	for i, text := range texts {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		switch kind {
		case Document:
			out[i] = embedDocument(text)
		case Code:
			out[i] = embedCode(text)
		case CodeQuery:
			out[i] = embedQuery(text)
		default:
			return nil, &UnknownKindError{Kind: kind}
		}
	}
	return out, nil
}

func embedCode(source string) []float32 {
	shape, words := newBag(), newBag()
	if !addStarlark(source, shape, words) {
		addTokens(source, shape, words)
	}
	return join(part{shape.hash(shapeDim), shapeShare}, part{words.hash(builtinDim - shapeDim), 100 - shapeShare})
}

// embedQuery fills the words part only, so that a source's shape neither helps
// nor hurts it.
func embedQuery(text string) []float32 {
	words := newBag()
	addWords(text, words)
	return join(part{make([]int64, shapeDim), 0}, part{words.hash(builtinDim - shapeDim), 100})
}

func embedDocument(text string) []float32 {
	b := newBag()
	addDocument(text, b)
	return join(part{b.hash(builtinDim), 100})
}
