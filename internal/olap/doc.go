// Package olap opens connections to the warehouse's ClickHouse, embedded or not, and sorts its errors into classes.
// Everything goes over HTTP, the one protocol on which clickhouse-go moves whole Arrow streams. Begin with Open.
package olap
