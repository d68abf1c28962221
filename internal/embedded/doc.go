// Package embedded connects a command to the services it works on: the ones
// that its configuration names, and for the others the embedded servers of its
// data folder.
//
// Begin at Connect. The first command of a folder starts a supervisor process
// (package supervisor), which runs the servers as long as any command holds a
// Lease and a few seconds longer. A Lease says what runs where: Wait returns
// once the services that are asked for can be used, so a command that only
// needs Kafka does not wait for ClickHouse.
//
// When the supervisor is killed, a Lease starts another one; the servers come
// back at the addresses they had, so that clients only have to try again.
package embedded
