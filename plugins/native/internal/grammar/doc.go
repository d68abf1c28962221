// Package grammar is what the native designer can say: a grammar of environment mechanics, difficulties, combinations and
// interface styles that writes complete Starlark sources, grounded in documents.
//
// A design is a sequence of choices (vocabulary.go). Compose (compose.go) turns choices and documents into source text,
// and does nothing else: the same choices and documents give the same text. Each mechanic is one small file that returns a
// stage: six functions that the skeleton (skeleton.go) joins. Begin with Compose and Vocabulary.
package grammar
