// Package fetchwire reads records as they come off the wire. It gives kafka-go's transport, which does the connections, the logins
// and the routing, another type for the answer to a Fetch request: one that keeps the bytes of the record batches, to be walked
// once, instead of an object for each record, its key, its value and each header. Reading a log takes less than half of the processor time that way.
// Begin with Request and Batches.
//
// kafka-go has one type per kind of answer in a process, so a program that uses this package cannot use kafka-go's own Fetch.
package fetchwire
