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
// A policy worker answers for some of the processes that play and design; the others start a plugin of their own.
// An appender (appender_test.go) writes events of its own all the while and notes what was acknowledged; now and then it
// plants records that no consumer can read.
//
// # Faults
//
// A round causes one fault, drawn from a shuffled deck that holds each fault once, and then waits until the log grows again.
// The order, the victims and the moments come from the seed; the machine's speed has a part in what they hit, so a seed that
// failed once may have to be run again. The timeline (timeline_test.go) says what was done when; it is kept on failure, with
// what every process printed.
//
// To add a fault, write a function that takes the world and returns once the fault is over, and list it in faults
// (faults_test.go). It draws from w.random only, tells the timeline what it hit, and calls w.reach when it can prove that it
// reached something that a run must reach. needs says why it cannot be caused somewhere, such as on servers that are not the
// world's own: SPADE_TEST_CHAOS_BROKER may then name a shell command that kills and restarts the broker.
//
// The clock of a process is set by replacing the clock functions of its vDSO (clock_linux_amd64_test.go): the wall clock jumps,
// the monotonic one does not, as when an administrator sets the time; other architectures leave the fault out. A full disk is a
// small tmpfs that is filled, where one may be mounted. Not caused: power cuts (package bus tests what readers make of one), broken hardware, and
// machines that lose each other while both reach the servers' other clients.
//
// # Oracle
//
// Once the last run is over and the warehouse has caught up, the log is read from its beginning (oracle_test.go):
//
//   - what the appender was told is acknowledged is in the log, and so once in the warehouse, with all its rows;
//   - the events of a key are in the order in which they were appended;
//   - the log holds nothing of the appender's that it did not append, and the warehouse no event that the log does not hold;
//   - every event of the log is in its tables exactly once, and every table, also one of whose events the log holds none, holds
//     nothing else (tables_test.go); every record that cannot be read is a dead letter exactly once;
//   - the memory holds every accepted environment once and nothing else (memory_test.go);
//   - spade verify finds no difference in log, warehouse, memory and checkpoints (verify_test.go);
//   - every run's digest is that of the same run in a quiet folder.
//
// Then the things that the faults are for must have been reached (reached_test.go): a rebalance during a flush, an event that was
// left out because the warehouse had it, a block whose answer was lost and that was there, a plan that another writer repeated, a
// dead letter, a plugin that was killed while it trained, and a writer that woke up late and was refused. Last, no process may
// have panicked, have ended as if all was well without being asked to, or have outlived its being asked to.
//
// # Recovery
//
// TestRolesRecover (kills_test.go, `make chaos-kills`) kills one process of each role, and the servers, in turn, with nobody else
// to take their work over, and measures how long it takes from the kill until that work goes on: the role's next event, the
// warehouse's next finished range, the memory's next point, the next acknowledged append (recovery_test.go).
package chaos
