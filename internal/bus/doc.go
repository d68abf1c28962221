// Package bus is the log: it appends events to Kafka and reads them back, over
// kafka-go only, the same way for the embedded broker and for a cluster.
//
// Begin at New. Append writes and returns once every replica has the events.
// Read scans up to an offset, Follow goes on for ever, and Consume shares the
// partitions of a group between processes, with commits that the handler
// decides about.
//
// What the package promises:
//
//   - Appending is at least once. Events of one key keep their order, also
//     when a write is retried, because a partition has one write in flight.
//   - A commit never passes an event that its handler has not declared
//     durable, nor the first record of a large event that is still incomplete.
//   - A record that is no event goes to Settings.DeadLetter and the partition
//     moves on.
//
// kafka-go's Writer and Reader are not used. The Writer waits for a batch to
// fill (1 s by default) and the Reader commits and starts by rules of its own;
// the package drives kafka-go's Client and ConsumerGroup instead.
package bus
