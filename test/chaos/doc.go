// Package chaos breaks a running installation of the program from outside and checks that nothing is lost, nothing is
// doubled and every run ends with the digest of an uninterrupted one. It has no code but its tests; `make chaos SEED= ROUNDS=`
// runs them.
//
// # What runs
//
// A world (world_test.go) is one data folder: `spade up` holds the embedded Kafka, ClickHouse and Qdrant, and every role runs
// as processes of its own, each started by a keeper (process_test.go) that starts another one when it ends. Where
// SPADE_KAFKA_BROKERS, SPADE_CLICKHOUSE_URL or SPADE_QDRANT_ADDR name servers, the world uses those, and the faults that it
// cannot cause there are left out by name. Half of the processes hold a lease on the data folder, as on one machine; the
// others reach the servers by address, as on many, through relays of the test (relay_test.go, kafka_test.go, http_test.go).
// An appender (appender_test.go) writes events of its own all the while and notes what was acknowledged; now and then it
// plants records that no consumer can read.
//
// # Faults
//
// A round causes one fault, drawn from a shuffled deck that holds each fault once, and then waits until the log grows again.
// The order, the victims and the moments come from the seed; the machine's speed has a part in what they hit, so a seed that
// failed once may have to be run again. The timeline (timeline_test.go) says what was done when.
//
// To add a fault, write a function that takes the world and returns once the fault is over, and list it in faults
// (faults_test.go). It draws from w.random only, tells the timeline what it hit, and calls w.reach when it can prove that it
// reached something that a run must reach. needs says why it cannot be caused somewhere, such as on servers that are not the
// world's own.
//
// # Oracle
//
// Once the last run is over and the warehouse has caught up, the log is read from its beginning (oracle_test.go):
//
//   - what the appender was told is acknowledged is in the log, and so once in the warehouse, with all its rows;
//   - the events of a key are in the order in which they were appended;
//   - the log holds nothing of the appender's that it did not append, and the warehouse no event that the log does not hold;
//   - every event of the log is in its table exactly once, every record that cannot be read is a dead letter exactly once;
//   - the memory holds every accepted environment once and nothing else;
//   - `spade verify` finds no difference, row by row;
//   - every run's digest is that of the same run in a quiet folder.
//
// Last, the things that the faults are for must have been reached (reached_test.go): a rebalance during a flush, a block that
// the server dropped as a duplicate, a dead letter, a plan that was repeated by another writer, a plugin that was killed
// while it trained, and a writer that woke up late and was refused.
package chaos
