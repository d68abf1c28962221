// Package crash kills the program's processes at moments of a seeded choice, and checks that a run which is started again
// with the same name ends with the digest of an uninterrupted one and with a warehouse that equals the log.
//
// It has no code but its test, which builds the program and runs it as a user does. CRASH_ROUNDS and CRASH_SEED set how
// often it kills and when.
package crash
