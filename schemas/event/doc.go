// Package event turns payloads into Kafka records and back.
//
// An Event is one thing that happened. New marshals its payload, once; Encode makes the records that are appended, one
// or, for a payload that is too large for one record, several continuation records; an Assembler, one per partition,
// turns records read in offset order back into events. Records carry CloudEvents 1.0 attributes in Kafka's binary mode, so
// that clients that know nothing of this package can route them.
package event
