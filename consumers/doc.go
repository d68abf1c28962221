// Package consumers holds what folds the log: scorer turns episodes into regret and pay, trainer turns them into policy
// updates, coordinator asks for designs and closes iterations, memory and warehouse project the log into Qdrant and
// ClickHouse. Begin with consumers.go, the little that they share.
package consumers
