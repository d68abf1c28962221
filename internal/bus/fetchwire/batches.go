package fetchwire

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"sync"
	"time"

	"github.com/segmentio/kafka-go/compress"
)

// Batches are the record batches of one partition, as the broker sent them. The zero value holds none. They are not safe for
// concurrent use.
type Batches struct {
	sent *bytes.Buffer // from buffers
	data []byte
}

// buffers keeps what was released for the next answers.
var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// mostAhead is how much room is made for an answer on its own word.
const mostAhead = 16 << 20

// ReadFrom implements io.ReaderFrom, which is how kafka-go reads a field of its own kind: four bytes that say how many follow.
func (b *Batches) ReadFrom(r io.Reader) (int64, error) {
	var head [4]byte
	if n, err := io.ReadFull(r, head[:]); err != nil {
		return int64(n), cut(err)
	}
	size := int64(int32(binary.BigEndian.Uint32(head[:]))) //nolint:gosec // -1 is none
	if size <= 0 {
		return int64(len(head)), nil
	}
	b.sent = buffers.Get().(*bytes.Buffer)
	b.sent.Reset()
	b.sent.Grow(int(min(size, mostAhead)))
	n, err := io.CopyN(b.sent, r, size)
	b.data = b.sent.Bytes()
	return int64(len(head)) + n, cut(err)
}

// cut: an answer that ends early is a connection that broke.
func cut(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// WriteTo implements io.WriterTo: what ReadFrom reads.
func (b *Batches) WriteTo(w io.Writer) (int64, error) {
	head := binary.BigEndian.AppendUint32(nil, uint32(len(b.data))) //nolint:gosec // what was read fits
	n, err := w.Write(append(head, b.data...))
	return int64(n), err
}

// Release gives the memory back. Nothing that Each passed on may be used any more.
func (b *Batches) Release() {
	if b.sent != nil {
		buffers.Put(b.sent)
	}
	*b = Batches{}
}

// Header is one header of a Record.
type Header struct{ Key, Value []byte }

// Record is one record. Its slices are valid while the function that gets it runs; nil is a key or value that is null.
type Record struct {
	Offset     int64
	Time       time.Time // in UTC
	Key, Value []byte
	Headers    []Header
}

// Classes of what makes a batch unreadable, for errors.Is.
var (
	// ErrChecksum: the bytes are not those that were written.
	ErrChecksum = errors.New("checksum of a record batch does not match")
	// ErrBatch: the bytes are no record batch of the format that Kafka writes since 0.11.
	ErrBatch = errors.New("not a record batch")

	// errRecords: a batch that is one, of records that are none.
	errRecords = errors.New("not the records of a batch")
)

// mostShown is how much of a batch that cannot be read is passed on.
const mostShown = 4 << 10

// Each calls fn with the records of all whole batches, in order; a batch that the broker cut off at the end is left out, and so are
// the marks that end transactions. next is the offset after the last batch that was passed on, records or not; it is -1 when there
// was none. An error of fn is returned as it is.
//
// A batch whose records are none although its checksum is right was written so: what cannot be read of it is one record without key
// and headers, which has the beginning of the batch as its value, and its readers go on after it.
func (b *Batches) Each(fn func(*Record) error) (next int64, err error) {
	next = -1
	var d decoder
	defer d.release()
	for rest := b.data; len(rest) > frameBytes; {
		size := int64(int32(binary.BigEndian.Uint32(rest[8:]))) //nolint:gosec // signed on the wire
		if size < 0 {
			return next, fmt.Errorf("%w: it has %d bytes", ErrBatch, size)
		}
		if int64(len(rest)-frameBytes) < size {
			return next, nil
		}
		end, err := d.batch(rest[:frameBytes+size], fn)
		if errors.Is(err, errRecords) {
			err = fn(&Record{Offset: d.reached, Time: time.UnixMilli(0).UTC(), Value: rest[:min(frameBytes+size, mostShown)]})
		}
		if err != nil {
			return next, err
		}
		next, rest = end, rest[frameBytes+size:]
	}
	return next, nil
}

// Where things stand in a batch: https://kafka.apache.org/documentation/#recordbatch.
const (
	frameBytes     = 12 // base offset and length
	magicAt        = 16
	crcAt          = 17
	attributesAt   = 21
	lastDeltaAt    = 23
	firstTimeAt    = 27
	maxTimeAt      = 35
	countAt        = 57
	recordsAt      = 61
	magic          = 2
	codecBits      = 0x07
	appendTimeBit  = 0x08 // all records have the time at which the broker appended them
	controlBit     = 0x20
	mostPlainBytes = 256 << 20 // of a batch that was compressed
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// decoder decodes one batch after the other and keeps what it needs for that.
type decoder struct {
	plain   *bytes.Buffer // a batch that was compressed
	record  Record
	reached int64 // offset from which the batch has not been passed on
}

func (d *decoder) release() {
	if d.plain != nil {
		buffers.Put(d.plain)
	}
}

// batch returns the offset after the batch.
func (d *decoder) batch(b []byte, fn func(*Record) error) (next int64, err error) {
	if len(b) < recordsAt || b[magicAt] != magic {
		return 0, fmt.Errorf("%w of format %d", ErrBatch, magic)
	}
	base := int64(binary.BigEndian.Uint64(b))                                //nolint:gosec // signed on the wire
	next = base + int64(int32(binary.BigEndian.Uint32(b[lastDeltaAt:]))) + 1 //nolint:gosec // the same
	if crc32.Checksum(b[attributesAt:], castagnoli) != binary.BigEndian.Uint32(b[crcAt:]) {
		return 0, fmt.Errorf("%w, at offset %d", ErrChecksum, base)
	}
	d.reached = base
	attributes := binary.BigEndian.Uint16(b[attributesAt:])
	if attributes&controlBit != 0 {
		return next, nil
	}
	records, err := d.decompress(b[recordsAt:], compress.Compression(attributes&codecBits)) //nolint:gosec // three bits
	if err != nil {
		return next, err
	}
	first, most := int64(binary.BigEndian.Uint64(b[firstTimeAt:])), int64(binary.BigEndian.Uint64(b[maxTimeAt:])) //nolint:gosec // signed on the wire
	for range int32(binary.BigEndian.Uint32(b[countAt:])) {                                                       //nolint:gosec // the same
		f := fields{rest: records}
		one := fields{rest: f.bytes(f.varint())}
		if f.bad {
			return next, fmt.Errorf("%w: one ends early", errRecords)
		}
		records = f.rest
		sinceFirst := one.record(&d.record)
		if one.bad {
			return next, fmt.Errorf("%w: one has no fields", errRecords)
		}
		d.record.Offset += base
		d.reached = d.record.Offset + 1
		d.record.Time = time.UnixMilli(first + sinceFirst).UTC()
		if attributes&appendTimeBit != 0 {
			d.record.Time = time.UnixMilli(most).UTC()
		}
		if err := fn(&d.record); err != nil {
			return 0, err
		}
	}
	return next, nil
}

func (d *decoder) decompress(b []byte, codec compress.Compression) ([]byte, error) {
	if codec == compress.None {
		return b, nil
	}
	c := codec.Codec()
	if c == nil {
		return nil, fmt.Errorf("%w: codec %d is unknown", errRecords, codec)
	}
	if d.plain == nil {
		d.plain = buffers.Get().(*bytes.Buffer)
	}
	d.plain.Reset()
	r := c.NewReader(bytes.NewReader(b))
	n, err := io.Copy(d.plain, io.LimitReader(r, mostPlainBytes+1))
	if err = errors.Join(err, r.Close()); err != nil {
		return nil, fmt.Errorf("%w: %s: %v", errRecords, codec, err) //nolint:errorlint // an end that comes early is not the connection's
	}
	if n > mostPlainBytes {
		return nil, fmt.Errorf("%w: more than %d bytes when decompressed", errRecords, mostPlainBytes)
	}
	return d.plain.Bytes(), nil
}

// fields takes the fields of a record off its bytes. Once something is missing, bad stays set.
type fields struct {
	rest []byte
	bad  bool
}

func (f *fields) varint() int64 {
	if len(f.rest) > 0 && f.rest[0] < 0x80 { // one byte: nearly all of them
		n := uint64(f.rest[0])
		f.rest = f.rest[1:]
		return int64(n>>1) ^ -int64(n&1) //nolint:gosec // zigzag
	}
	n, size := binary.Varint(f.rest)
	if size <= 0 {
		f.bad, f.rest = true, nil
		return 0
	}
	f.rest = f.rest[size:]
	return n
}

// bytes takes n of them; -1 is null.
func (f *fields) bytes(n int64) []byte {
	if n == -1 {
		return nil
	}
	if n < 0 || n > int64(len(f.rest)) {
		f.bad, f.rest = true, nil
		return nil
	}
	out := f.rest[:n:n]
	f.rest = f.rest[n:]
	return out
}

// record reads all fields of one; its offset is relative to the batch's, and so is the time that is returned, in ms.
func (f *fields) record(r *Record) (sinceFirst int64) {
	f.bytes(1) // attributes, of which there are none
	sinceFirst = f.varint()
	r.Offset = f.varint()
	r.Key = f.bytes(f.varint())
	r.Value = f.bytes(f.varint())
	n := f.varint()
	if n < 0 || n > int64(len(f.rest)) {
		f.bad = f.bad || n != 0
		n = 0
	}
	r.Headers = r.Headers[:0]
	for range n {
		r.Headers = append(r.Headers, Header{Key: f.bytes(f.varint()), Value: f.bytes(f.varint())})
		if f.bad {
			break
		}
	}
	return sinceFirst
}
