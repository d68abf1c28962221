// Package clickhouse runs clients of ClickHouse that nobody here wrote, curl and the npm package @clickhouse/client,
// against the embedded server.
package clickhouse
