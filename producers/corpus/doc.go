// Package corpus appends documents to the log: the corpus that grounds what the designer writes.
//
// An Ingester reads files and folders, turns what they hold into documents, cuts long ones into chunks and appends a
// DocumentIngested for each that the log does not hold yet. Ids are derived from title and text, so adding the same corpus again
// appends nothing. A file that cannot be read is a Problem in the Summary; the others go on. An Index folds
// spade.documents into what is known, and Pin names the set of documents that a run may sample.
//
// Begin with Ingester.Add. Formats are in formats.go, one file each; chunk.go says where documents are cut.
package corpus
