// Package tracing tells of environments as OpenTelemetry traces. The trace of an environment has the environment's id, and
// every span the first half of its event's id: so the spans of several processes belong together although none of them
// passes anything on. Each process tells of the events that it appends. Begin with Exporter; Spans is the mapping.
package tracing
