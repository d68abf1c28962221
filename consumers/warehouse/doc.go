// Package warehouse is the sink that writes the log into ClickHouse, exactly once in effect.
//
// Begin with New, Sink.Run and Sink.WaitFor. A lane is one partition of one topic: it gathers events and flushes them as
// one range. A flush is always the same steps, so that a crash between any two of them can be repaired by repeating it:
//
//  1. look up which of the events are in the warehouse already and leave those out (the first record of an event wins),
//  2. turn the rest into one Arrow block per table (package schemas/tables),
//  3. write the plan: which offsets this range spans,
//  4. insert each block under the token table:topic:partition:first-last,
//  5. remove the text of withdrawn documents,
//  6. write how far the warehouse holds the partition, and only then commit to Kafka.
//
// A lane that opens on a plan that was not finished repeats exactly that range. A block that may have been sent before is first
// compared with what its table holds, and only what is missing is inserted; the token is for an insert that the server still
// executes. Before anything else a lane claims its partition; the server compares the claim with every insert, so a process
// that lost the partition and does not know it cannot insert any more, however late it wakes up. docs/delivery.md describes
// it for users, docs/adr has the reasons.
//
// Files: sink.go (lifecycle), partition.go (what the bus calls), lane.go (the steps), repeat.go (what may have been sent
// before), batch.go (events to blocks), store.go (what is asked of a warehouse), clickhouse.go, lookup.go and window.go (the
// real one), progress.go (how far it is).
package warehouse
