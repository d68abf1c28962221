package oplog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

const (
	magic      = "SPADEQD1"
	headerSize = 12
	// maxBody is over any request that the server accepts; a longer length is
	// damage, not data, and must not be allocated.
	maxBody = 256 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errTorn marks a tail that a crash can leave: everything before it is whole.
var errTorn = errors.New("torn tail")

// unsoundError marks damage that no crash of an appending process leaves.
type unsoundError string

func (e unsoundError) Error() string { return string(e) }

func putHeader(h []byte, body []byte) {
	binary.LittleEndian.PutUint32(h[0:4], uint32(len(body)))
	binary.LittleEndian.PutUint32(h[4:8], crc32.Checksum(body, castagnoli))
	binary.LittleEndian.PutUint32(h[8:12], crc32.Checksum(h[0:8], castagnoli))
}

// scan reads the records of a log of the given size, magic included, and
// returns the length of its sound part. The body passed to fn is valid only
// during the call; offset is where it begins in the file.
func scan(r io.Reader, size int64, fn func(offset int64, body []byte) error) (int64, error) {
	br := bufio.NewReaderSize(r, 1<<20)
	head := make([]byte, len(magic))
	if size < int64(len(magic)) {
		return 0, errTorn
	}
	if _, err := io.ReadFull(br, head); err != nil {
		return 0, fmt.Errorf("read magic: %w", err)
	}
	if string(head) != magic {
		return 0, unsoundError("it does not begin as a log of this version does")
	}
	pos := int64(len(magic))
	var body []byte
	for pos < size {
		var err error
		body, err = next(br, size-pos, body)
		if err != nil {
			return pos, err
		}
		if err := fn(pos+headerSize, body); err != nil {
			return pos, err
		}
		pos += headerSize + int64(len(body))
	}
	return pos, nil
}

// next reads one record out of the `left` bytes that remain.
func next(br *bufio.Reader, left int64, buf []byte) ([]byte, error) {
	if left < headerSize {
		return nil, errTorn
	}
	var h [headerSize]byte
	if _, err := io.ReadFull(br, h[:]); err != nil {
		return nil, fmt.Errorf("read record header: %w", err)
	}
	if binary.LittleEndian.Uint32(h[8:12]) != crc32.Checksum(h[0:8], castagnoli) {
		if zero(h[:]) && restIsZero(br) {
			return nil, errTorn // a file system that grew the file before it wrote the bytes
		}
		return nil, unsoundError("a record header fails its checksum")
	}
	n := int64(binary.LittleEndian.Uint32(h[0:4]))
	if n > maxBody {
		return nil, unsoundError(fmt.Sprintf("a record claims %d bytes", n))
	}
	if n > left-headerSize {
		return nil, errTorn
	}
	if int64(cap(buf)) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(br, buf); err != nil {
		return nil, fmt.Errorf("read record body: %w", err)
	}
	if crc32.Checksum(buf, castagnoli) != binary.LittleEndian.Uint32(h[4:8]) {
		if n == left-headerSize {
			return nil, errTorn // the last record: its pages did not all reach the disk
		}
		return nil, unsoundError("a record body fails its checksum and others follow")
	}
	return buf, nil
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func restIsZero(r io.Reader) bool {
	buf := make([]byte, 64<<10)
	for {
		n, err := r.Read(buf)
		if !zero(buf[:n]) {
			return false
		}
		if err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}
