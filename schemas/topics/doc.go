// Package topics is the catalogue of Kafka topics: names, keys, partitions and settings. Begin with All.
package topics
