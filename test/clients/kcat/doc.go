// Package kcat holds tests that read the embedded Kafka with kcat, a client that nobody here wrote: it shows the log is
// plain Kafka with CloudEvents headers.
package kcat
