// Package telemetry serves what a process tells of itself while it works: Prometheus metrics at /metrics, whether it should
// be sent work at /readyz, and whether it should be restarted at /livez. Begin with Process. Catalogue lists every metric;
// the packages that do the work count in plain numbers and know nothing of Prometheus.
package telemetry
