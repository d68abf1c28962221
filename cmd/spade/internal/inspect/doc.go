// Package inspect looks one thing up in the warehouse and shows what is known of it: a run, an environment, an episode or a
// document, with what it came from. Begin with Find and Show.
//
// The queries are in sql/, one section of the output a file, named KIND-SECTION.sql; each asks for one id as @id.
package inspect
