// Package embedding turns source code and documents into vectors, for the
// memory, the duplicate check and grounding.
//
// Begin with Embedder. There are two: Builtin, which needs no download, and
// Endpoint, any OpenAI-compatible /v1/embeddings.
//
// # What the built-in embedder is
//
// Feature hashing, not a language model: it knows nothing of what words or
// programs mean. Two sources are near when they are built alike and speak with
// the same words; two documents are near when they share words. It will not see
// that two differently written programs do the same.
//
// A source becomes 256 numbers. The first 128 hash the shape of its syntax
// tree, function by function: which constructs hold which. Names that the author
// chose are replaced by their role (parameter, local, global, helper), numbers
// and strings by their kind, dict keys count as names, and the order of functions
// does not matter; names of the contract and of predeclared modules stay. The
// other 128 hash the words of its string literals. The shape makes up 70 % of a
// similarity and the words 30 %: a copy with renamed variables, other numbers
// or reordered functions stays at one, the same mechanic about other facts goes
// below the threshold. A source that is not Starlark is read by a tokeniser
// instead, with the same replacements.
//
// Everything is summed in integers and scaled once, so that a source has the
// same vector on every machine.
//
// # Threshold
//
// Over the 48 held-out environments of examples/suites, near-copies (renamed,
// renumbered, reordered, all at once) lie at 0.991 and above, the same mechanic
// with two words in three replaced between 0.73 and 0.90, and different
// environments, which share an author's style, at 0.74 and below. So
// DefaultDuplicateThreshold is 0.97, and SameKindSimilarity, for designs that
// share some of their wording, 0.80. TestSeparation measures again and holds the
// margins. Of the native designer's sources, 96 % of those that differ in
// difficulty alone are near-duplicates at that threshold, none that took other
// facts and wording, and 2 of 400 uniform designs in a row.
package embedding
