// Package schemas is the contract that producers, consumers, plugins and analytics meet in; it imports nothing else of
// this module.
//
// Begin with proto/spade/v1, the payload of every event, and with package topics, which says where each one is written
// and under which key. Package event turns payloads into Kafka records and back, package ids derives every identifier,
// package digest computes a run's digest, package outcome names how episodes end and package stats what the gate's figures
// are called, package tables defines the warehouse and turns events into Arrow batches, and package training defines the
// Arrow rows that trainer plugins receive.
package schemas
