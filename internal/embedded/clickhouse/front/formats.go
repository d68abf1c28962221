package front

import "strings"

// contentType is what ClickHouse sends for a format.
func contentType(format string) string {
	switch f := strings.ToLower(format); {
	case strings.Contains(f, "eachrow") && strings.HasPrefix(f, "json"):
		return "application/x-ndjson; charset=UTF-8"
	case strings.HasPrefix(f, "json"):
		return "application/json; charset=UTF-8"
	case strings.HasPrefix(f, "csv"):
		return "text/csv; charset=UTF-8; header=" + present(strings.Contains(f, "withnames"))
	case strings.HasPrefix(f, "tabseparated"), strings.HasPrefix(f, "tsv"):
		return "text/tab-separated-values; charset=UTF-8"
	case f == "arrow", f == "arrowstream":
		return "application/vnd.apache.arrow.stream"
	case f == "parquet", f == "orc", f == "avro", f == "native", strings.HasPrefix(f, "rowbinary"), f == "rawblob", f == "msgpack", f == "bsoneachrow", f == "protobuf", f == "capnproto":
		return "application/octet-stream"
	case f == "xml":
		return "application/xml; charset=UTF-8"
	default:
		return "text/plain; charset=UTF-8"
	}
}

func present(yes bool) string {
	if yes {
		return "present"
	}
	return "absent"
}
