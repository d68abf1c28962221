package engine

import (
	"runtime"
	"unsafe"
)

// cmem holds the Go memory that one call hands to the library, pinned until release. The library copies what it
// keeps, so nothing stays pinned after the call.
type cmem struct {
	pin  runtime.Pinner
	keep []any
}

// bytes gives the address of b, or nil for an empty one.
func (m *cmem) bytes(b []byte) unsafe.Pointer {
	if len(b) == 0 {
		return nil
	}
	m.pin.Pin(&b[0])
	return unsafe.Pointer(&b[0])
}

// text gives the address of a copy of s with a NUL behind it.
func (m *cmem) text(s string) unsafe.Pointer {
	b := make([]byte, len(s)+1)
	copy(b, s)
	return m.bytes(b)
}

// array gives the address of an array of the addresses in list.
func (m *cmem) array(list []unsafe.Pointer) unsafe.Pointer {
	if len(list) == 0 {
		return nil
	}
	m.keep = append(m.keep, list)
	m.pin.Pin(&list[0])
	return unsafe.Pointer(&list[0])
}

func (m *cmem) sizes(list []uintptr) unsafe.Pointer {
	if len(list) == 0 {
		return nil
	}
	m.pin.Pin(&list[0])
	return unsafe.Pointer(&list[0])
}

// params lays out query parameters as the four arrays that the library takes.
func (m *cmem) params(params []Param) (names, nameLens, values, valueLens unsafe.Pointer) {
	var n, v []unsafe.Pointer
	var nl, vl []uintptr
	for _, p := range params {
		n, nl = append(n, m.text(p.Name)), append(nl, uintptr(len(p.Name)))
		v, vl = append(v, m.text(p.Value)), append(vl, uintptr(len(p.Value)))
	}
	return m.array(n), m.sizes(nl), m.array(v), m.sizes(vl)
}

func (m *cmem) release() { m.pin.Unpin() }
