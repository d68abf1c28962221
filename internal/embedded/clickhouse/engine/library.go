package engine

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/ebitengine/purego"
)

// Library is a loaded libchdb. It is never unloaded: the engine's threads outlive every handle.
type Library struct {
	path string

	setSignalHandlers func(enabled int32)
	version           func() string
	connect           func(argc int32, argv unsafe.Pointer) unsafe.Pointer
	closeConn         func(conn unsafe.Pointer)
	query             func(conn, sql unsafe.Pointer, sqlLen uintptr, format unsafe.Pointer, formatLen uintptr,
		names, nameLens, values, valueLens unsafe.Pointer, count uintptr) unsafe.Pointer
	classify func(conn, sql unsafe.Pointer, sqlLen uintptr, db unsafe.Pointer, dbLen uintptr, out unsafe.Pointer) int32

	insert func(conn, sql unsafe.Pointer, sqlLen uintptr, format unsafe.Pointer, formatLen uintptr,
		names, nameLens, values, valueLens unsafe.Pointer, count uintptr) unsafe.Pointer
	insertAppend  func(stream, data unsafe.Pointer, size uintptr) int32
	insertDone    func(stream unsafe.Pointer) unsafe.Pointer
	insertCancel  func(stream unsafe.Pointer)
	insertError   func(stream unsafe.Pointer) string
	insertDestroy func(stream unsafe.Pointer)

	resultBuffer       func(result unsafe.Pointer) unsafe.Pointer
	resultLength       func(result unsafe.Pointer) uintptr
	resultError        func(result unsafe.Pointer) string
	resultElapsed      func(result unsafe.Pointer) float64
	resultRows         func(result unsafe.Pointer) uint64
	resultBytes        func(result unsafe.Pointer) uint64
	resultStorageRows  func(result unsafe.Pointer) uint64
	resultStorageBytes func(result unsafe.Pointer) uint64
	resultWrittenRows  func(result unsafe.Pointer) uint64
	resultWrittenBytes func(result unsafe.Pointer) uint64
	resultDestroy      func(result unsafe.Pointer)
}

// ErrLibrary marks a shared library that is missing, of another platform, or too old to lack a function used here.
var ErrLibrary = errors.New("libchdb cannot be used")

// Load opens the shared library at path and keeps the engine's hands off the process's signals.
func Load(path string) (*Library, error) {
	handle, err := purego.Dlopen(path, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrLibrary, err)
	}
	l := &Library{path: path}
	for name, fn := range l.symbols() {
		addr, err := purego.Dlsym(handle, name)
		if err != nil {
			return nil, fmt.Errorf("%w: %s has no %s: install the pinned version", ErrLibrary, path, name)
		}
		purego.RegisterFunc(fn, addr)
	}
	// The Go runtime needs its own handlers; the engine would otherwise install a crash reporter over them.
	l.setSignalHandlers(0)
	return l, nil
}

// Version is the library's own version, such as "26.7.3".
func (l *Library) Version() string { return l.version() }

func (l *Library) symbols() map[string]any {
	return map[string]any{
		"chdb_set_signal_handlers_enabled": &l.setSignalHandlers,
		"chdb_version":                     &l.version,
		"chdb_connect":                     &l.connect,
		"chdb_close_conn":                  &l.closeConn,
		"chdb_query_with_params_n":         &l.query,
		"chdb_classify_query_n":            &l.classify,
		"chdb_stream_insert_with_params_n": &l.insert,
		"chdb_stream_append":               &l.insertAppend,
		"chdb_stream_done":                 &l.insertDone,
		"chdb_stream_cancel_insert":        &l.insertCancel,
		"chdb_stream_insert_error":         &l.insertError,
		"chdb_destroy_insert_stream":       &l.insertDestroy,
		"chdb_result_buffer":               &l.resultBuffer,
		"chdb_result_length":               &l.resultLength,
		"chdb_result_error":                &l.resultError,
		"chdb_result_elapsed":              &l.resultElapsed,
		"chdb_result_rows_read":            &l.resultRows,
		"chdb_result_bytes_read":           &l.resultBytes,
		"chdb_result_storage_rows_read":    &l.resultStorageRows,
		"chdb_result_storage_bytes_read":   &l.resultStorageBytes,
		"chdb_result_rows_written":         &l.resultWrittenRows,
		"chdb_result_bytes_written":        &l.resultWrittenBytes,
		"chdb_destroy_query_result":        &l.resultDestroy,
	}
}
