// Package ingest puts a corpus into the log with progress for people, and says what became of it. Begin with Add.
package ingest
