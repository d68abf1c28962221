package kafka

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// inspect refuses a log that kfake would cut. kfake drops what follows the first
// bytes it cannot read, which is right for the batch that a killed process left
// half-written at the end and for nothing else, and it begins anew beside the
// files when those that list the topics are gone. What was acknowledged is never
// dropped without a word, so the cut is allowed only where it takes a torn tail.
func inspect(dir string) error {
	listed, err := listedPartitions(dir)
	if err != nil {
		return err
	}
	folders, err := os.ReadDir(filepath.Join(dir, "partitions"))
	if err != nil {
		return ignoreMissing(err)
	}
	for _, entry := range folders {
		folder := filepath.Join(dir, "partitions", entry.Name())
		segments, err := segmentsOf(folder)
		if err != nil {
			return err
		}
		if len(segments) > 0 && !listed[entry.Name()] {
			return fmt.Errorf("%s holds records, and topics.json or meta.json, which list its topic, does not", folder)
		}
		if err := inspectPartition(folder, segments); err != nil {
			return err
		}
	}
	return nil
}

// listedPartitions are the names of the folders that kfake will load.
func listedPartitions(dir string) (map[string]bool, error) {
	out := map[string]bool{}
	if _, err := os.Stat(filepath.Join(dir, "meta.json")); err != nil {
		return out, ignoreMissing(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "topics.json"))
	if err != nil {
		return out, ignoreMissing(err)
	}
	var list struct {
		Topics []struct {
			Name       string `json:"name"`
			Partitions int    `json:"partitions"`
		} `json:"topics"`
	}
	if err := json.Unmarshal(data, &list); err != nil {
		return nil, fmt.Errorf("topics.json: %w", err)
	}
	for _, t := range list.Topics {
		for p := range t.Partitions {
			out[fmt.Sprintf("%s-%d", url.PathEscape(t.Name), p)] = true
		}
	}
	return out, nil
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// segment is a file of record batches.
type segment struct {
	path string
	base int64
	size int64
}

// segmentsOf are the files of a partition that hold anything, oldest first.
func segmentsOf(folder string) ([]segment, error) {
	entries, err := os.ReadDir(folder)
	if err != nil {
		return nil, err
	}
	var out []segment
	for _, e := range entries {
		name, isSegment := strings.CutSuffix(e.Name(), ".dat")
		base, err := strconv.ParseInt(name, 10, 64)
		if !isSegment || err != nil {
			continue
		}
		info, err := e.Info()
		if err != nil {
			return nil, err
		}
		if info.Size() > 0 {
			out = append(out, segment{filepath.Join(folder, e.Name()), base, info.Size()})
		}
	}
	slices.SortFunc(out, func(a, b segment) int { return int(min(max(a.base-b.base, -1), 1)) })
	return out, nil
}

// inspectPartition reads every batch once.
func inspectPartition(folder string, segments []segment) error {
	whole := wholeBytes(folder)
	for i, s := range segments {
		read, err := readBatches(s)
		if err != nil {
			return err
		}
		switch lost := s.size - read.bytes; {
		case read.bytes < whole[s.base]:
			return fmt.Errorf("%s is damaged at byte %d: it could be read up to byte %d when the broker stopped", s.path, read.bytes, whole[s.base])
		case lost > 0 && (i < len(segments)-1 || read.more):
			return fmt.Errorf("%s is damaged at byte %d: records that follow would be lost", s.path, read.bytes)
		}
		delete(whole, s.base)
	}
	for base, size := range whole {
		if size > 0 {
			return fmt.Errorf("%s lacks %d.dat, which had %d bytes when the broker stopped", folder, base, size)
		}
	}
	return nil
}

// wholeBytes are the sizes of the segments at the last clean stop, by base
// offset. A snapshot that cannot be read says nothing: kfake does without, too.
func wholeBytes(folder string) map[int64]int64 {
	out := map[int64]int64{}
	data, err := os.ReadFile(filepath.Join(folder, "snapshot.json"))
	if err != nil {
		return out
	}
	var snapshot struct {
		Segments []struct {
			Base int64 `json:"base_offset"`
			Size int64 `json:"size"`
		} `json:"segments"`
	}
	if json.Unmarshal(data, &snapshot) != nil {
		return out
	}
	for _, s := range snapshot.Segments {
		out[s.Base] = s.Size
	}
	return out
}

// A record batch as Kafka lays it out: base offset (8), length of what follows
// (4), leader epoch (4), magic (1), CRC-32C of the rest (4), the rest.
const (
	lengthAt     = 8
	batchPrefix  = 12
	magicAt      = 16
	crcAt        = 17
	crcFrom      = 21
	batchMagic   = 2
	shortestBody = 49 // a batch without records, from the leader epoch on
	longestBody  = 1 << 30
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// batches is what a segment holds.
type batches struct {
	bytes int64 // up to the first that cannot be read
	more  bool  // another whole batch lies somewhere behind
}

func readBatches(s segment) (out batches, err error) {
	f, err := os.Open(s.path)
	if err != nil {
		return out, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	r := bufio.NewReaderSize(f, 1<<20)
	next := s.base
	var buf bytes.Buffer
	for {
		body, err := readBatch(r, &buf, s.size-out.bytes)
		if err != nil {
			return out, err
		}
		if body == nil {
			break
		}
		out.bytes += int64(len(body))
		next = int64(binary.BigEndian.Uint64(body)) + 1 //nolint:gosec // an offset
	}
	if out.bytes == s.size {
		return out, nil
	}
	rest, err := io.ReadAll(io.NewSectionReader(f, out.bytes, s.size-out.bytes))
	out.more = holdsBatch(rest, next)
	return out, err
}

// readBatch reads one batch into buf; nil where none can be read.
func readBatch(r io.Reader, buf *bytes.Buffer, left int64) ([]byte, error) {
	var prefix [batchPrefix]byte
	if left < batchPrefix {
		return nil, nil
	}
	if _, err := io.ReadFull(r, prefix[:]); err != nil {
		return nil, err
	}
	size := batchSize(prefix[:])
	if size == 0 || size > left {
		return nil, nil
	}
	buf.Reset()
	buf.Write(prefix[:])
	if _, err := io.CopyN(buf, r, size-batchPrefix); err != nil {
		return nil, err
	}
	if !whole(buf.Bytes()) {
		return nil, nil
	}
	return buf.Bytes(), nil
}

// batchSize is the size of the batch that begins with prefix; 0 where none does.
func batchSize(prefix []byte) int64 {
	length := int64(binary.BigEndian.Uint32(prefix[lengthAt:]))
	if length < shortestBody || length > longestBody {
		return 0
	}
	return batchPrefix + length
}

func whole(batch []byte) bool {
	return batch[magicAt] == batchMagic &&
		binary.BigEndian.Uint32(batch[crcAt:]) == crc32.Checksum(batch[crcFrom:], castagnoli)
}

// holdsBatch looks for a whole batch of an offset from next on at any byte but
// the first.
func holdsBatch(data []byte, next int64) bool {
	for at := 1; at+batchPrefix+shortestBody <= len(data); at++ {
		b := data[at:]
		if b[magicAt] != batchMagic {
			continue
		}
		size := batchSize(b)
		offset := int64(binary.BigEndian.Uint64(b)) //nolint:gosec // an offset
		if size > 0 && size <= int64(len(b)) && offset >= next && whole(b[:size]) {
			return true
		}
	}
	return false
}
