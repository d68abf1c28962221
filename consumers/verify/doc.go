// Package verify checks the log against itself, and the memory and the checkpoints against the log. Begin with Scan, which
// reads the log once and gives every record to the checks: RunLog for what the contract promises of a run, Memory for the
// points of the vector store, Checkpoints for the states of policies. What they find they add to a Report.
//
// The warehouse has a package of its own, consumers/warehouse/audit.
//
// # What it costs
//
// Payloads are looked at one after the other and never kept. A scan keeps about 80 bytes for each event of the partition
// that it is in, to recognise ids that come again; RunLog keeps about 200 bytes for each environment and two bits for
// each episode; Memory keeps about 40 bytes for each point.
//
// # A log that grows
//
// Ends takes the end of every topic so that what follows from something is cut no later than what it follows from: a
// record before the cut has all its causes before the cut. What is expected and not there is in flight in an iteration
// that is open, and missing in one that is closed.
package verify
