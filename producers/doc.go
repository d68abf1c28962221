// Package producers holds what appends events to the log: corpus ingests documents, designer answers design requests,
// rollout plays accepted environments, evaluator plays the held-out suites. They know consumers only through the events
// of package schemas. Begin with producers.go, the little that they share.
package producers
