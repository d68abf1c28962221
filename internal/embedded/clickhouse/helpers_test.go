package clickhouse_test

import (
	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/ClickHouse/clickhouse-go/v2/lib/driver"
)

func driverNamed(name string, value any) driver.NamedValue { return clickhouse.Named(name, value) }
