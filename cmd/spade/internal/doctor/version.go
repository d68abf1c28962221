package doctor

import (
	"strconv"
	"strings"
)

// old reports whether a ClickHouse version is older than the oldest that will do. What is no version is not: it may be a
// build of somebody's own.
func old(version string) bool {
	parts := strings.SplitN(version, ".", 3)
	if len(parts) < 2 {
		return false
	}
	year, err1 := strconv.Atoi(parts[0])
	month, err2 := strconv.Atoi(parts[1])
	if err1 != nil || err2 != nil {
		return false
	}
	return year < oldestYear || year == oldestYear && month < oldestMonth
}
