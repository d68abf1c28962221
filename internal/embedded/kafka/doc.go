// Package kafka is the embedded Kafka: franz-go's kfake broker on a loopback
// port, with its log on disk, behind SCRAM.
//
// Begin at New. One Server owns one folder. What a client was told is stored
// survives kill -9 of the process, since a batch is written to its file before
// it is acknowledged or given to a reader; with Config.SyncWrites it survives a
// power cut as well. Every connection passes a guard that reads the frame header
// before the broker does, because the broker trusts sizes and keys.
package kafka
