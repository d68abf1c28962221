// Package kafka tests the bus on Apache Kafka's own broker, as clusters of three nodes that lose one: killed, stopped in its
// tracks, restarted one after the other. make test-kafka fetches the broker and runs it.
package kafka
