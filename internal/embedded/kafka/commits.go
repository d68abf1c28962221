package kafka

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io/fs"
	"os"
	"path/filepath"
)

// An entry of groups.log: its length without the first two fields (4, little
// endian), CRC-32C of the rest (4), the rest.
const (
	entryHeader   = 8
	shortestEntry = 2 // a version and nothing else
)

// cutTornCommit drops the entry that a killed process has left half-written at the
// end of the committed offsets. kfake passes over it, but writes behind it, and
// then reads nothing of what is there: the commits of the next process would be
// lost when that one is killed as well.
func cutTornCommit(dir string) (cut int, err error) {
	path := filepath.Join(dir, "groups.log")
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, fmt.Errorf("prepare kafka folder: %w", err)
	}
	whole := wholeEntries(data)
	if cut = len(data) - whole; cut == 0 {
		return 0, nil
	}
	if err := os.Truncate(path, int64(whole)); err != nil {
		return 0, fmt.Errorf("prepare kafka folder: %w", err)
	}
	return cut, nil
}

// wholeEntries is how many bytes the entries take that can be read.
func wholeEntries(data []byte) (n int) {
	for {
		rest := data[n:]
		if len(rest) < entryHeader+shortestEntry {
			return n
		}
		length := uint64(binary.LittleEndian.Uint32(rest))
		if length < shortestEntry || length > uint64(len(rest)-entryHeader) {
			return n
		}
		body := rest[entryHeader : entryHeader+length]
		if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(rest[4:]) {
			return n
		}
		n += entryHeader + len(body)
	}
}
