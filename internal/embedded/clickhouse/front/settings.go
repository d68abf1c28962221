package front

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
	"github.com/seed256f7767/spade/internal/embedded/clickhouse/sqlguard"
)

// controls are URL values that are handled here, or that ask for what this server does anyway. They are no settings.
var controls = map[string]bool{
	"query": true, "query_id": true, "database": true, "default_format": true, "user": true, "password": true,
	"compress": true, "decompress": true, "enable_http_compression": true, "http_zlib_compression_level": true,
	"network_compression_method": true, "network_zstd_compression_level": true, "wait_end_of_query": true,
	"client_protocol_version": true, "log_comment": true, "quota_key": true, "buffer_size": true,
	"http_response_buffer_size": true, "send_progress_in_http_headers": true, "http_headers_progress_interval_ms": true,
	"http_write_exception_in_output_format": true, "http_native_compression_disable_checksumming_on_decompress": true,
	"cancel_http_readonly_queries_on_client_close": true, "stacktrace": true, "add_http_cors_header": true, "close_session": true,
}

// refusedControls are URL values that change the meaning of a request and cannot be honoured, with what to do.
var refusedControls = map[string]string{
	"session_id":      "every request stands alone; give settings in the URL and qualify names",
	"session_timeout": "every request stands alone",
	"session_check":   "every request stands alone",
	"role":            "there are no roles",
}

// readerSettings are the settings that a read-only user may give; prefixes end in an underscore.
var readerSettings = []string{
	"output_format_", "date_time_output_format", "format_csv_", "format_tsv_", "format_display_", "bool_true_representation",
	"bool_false_representation", "session_timezone", "max_threads", "max_block_size", "max_execution_time", "max_memory_usage",
	"max_result_rows", "max_result_bytes", "result_overflow_mode", "max_rows_to_read", "max_bytes_to_read", "read_overflow_mode",
	"timeout_overflow_mode", "join_use_nulls", "group_by_use_nulls", "aggregate_functions_null_for_empty", "extremes", "limit",
	"offset", "readonly", "final", "cast_keep_nullable", "union_default_mode",
}

var settingName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

func (r *request) setting(name, value string) error {
	if !settingName.MatchString(name) {
		return &engine.Error{Code: engine.CodeUnknownSetting, Message: "unknown parameter " + strconv.Quote(name) + " in the URL"}
	}
	if r.user.ReadOnly && !readerMay(name) {
		return &engine.Error{Code: engine.CodeReadonly, Message: "the user " + r.user.Name + " may not change the setting " + name}
	}
	r.settings[name] = value
	return nil
}

func readerMay(name string) bool {
	for _, allowed := range readerSettings {
		if name == allowed || strings.HasSuffix(allowed, "_") && strings.HasPrefix(name, allowed) {
			return true
		}
	}
	return false
}

// limit puts a read-only user's settings within the limits: a client may ask for less, not for more.
func (r *request) limit(l sqlguard.Limits) {
	for name, limit := range l.Settings() {
		given, err := strconv.ParseFloat(r.settings[name], 64)
		most, _ := strconv.ParseFloat(limit, 64)
		if name == "readonly" || err != nil || given <= 0 || given > most {
			r.settings[name] = limit
		}
	}
	r.settings["allow_introspection_functions"] = "0"
	r.settings["allow_ddl"] = "0"
}
