// Package analytics holds the questions that the warehouse is asked again and again, as named SQL. Begin with Queries and
// Run.
//
// Each question is one file in sql/, named after what it answers. Its first comment lines say what it shows; {run:UUID}
// stands for the run it is asked about. The tables are defined in schemas/tables and installed by package migrations.
package analytics
