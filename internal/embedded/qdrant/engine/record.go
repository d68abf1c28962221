package engine

import (
	"encoding/binary"
	"errors"
	"math"
)

// A record of the log is one operation over one or more points:
//
//	kind u8 | count uvarint | count × item
//	put:     version uvarint | id | dim uvarint | dim × float32 | length uvarint | payload
//	payload: version uvarint | id | length uvarint | payload
//	delete:  version uvarint | id
//	id:      kind u8 | hi u64 | lo u64
//
// One request is one record, so a crash keeps all of it or nothing.
const (
	recordPut     = 1
	recordPayload = 2
	recordDelete  = 3
)

const idSize = 17

// item is one point of a record. Vector and Payload are nil where the kind has
// none; at is where the payload begins in the record's body.
type item struct {
	version uint64
	id      ID
	vector  []float32
	payload []byte
	at      int
}

// encodeRecord fills in at of every item.
func encodeRecord(kind byte, items []item) []byte {
	size := 16
	for _, it := range items {
		size += 30 + idSize + 4*len(it.vector) + len(it.payload)
	}
	b := append(make([]byte, 0, size), kind)
	b = binary.AppendUvarint(b, uint64(len(items)))
	for i := range items {
		it := &items[i]
		b = binary.AppendUvarint(b, it.version)
		b = append(b, byte(it.id.kind))
		b = binary.LittleEndian.AppendUint64(b, it.id.hi)
		b = binary.LittleEndian.AppendUint64(b, it.id.lo)
		if kind == recordPut {
			b = binary.AppendUvarint(b, uint64(len(it.vector)))
			for _, x := range it.vector {
				b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
			}
		}
		if kind != recordDelete {
			b = binary.AppendUvarint(b, uint64(len(it.payload)))
			it.at = len(b)
			b = append(b, it.payload...)
		}
	}
	return b
}

var errRecord = errors.New("record cannot be decoded")

// decodeRecord reads a record back. Payloads alias body.
func decodeRecord(body []byte) (kind byte, items []item, err error) {
	d := decoder{rest: body}
	kind = d.byte()
	n := d.uvarint()
	if d.bad || kind < recordPut || kind > recordDelete || n > uint64(len(d.rest)/(idSize+1)) {
		return 0, nil, errRecord
	}
	items = make([]item, 0, n)
	for range n {
		it := item{version: d.uvarint(), id: d.id()}
		if kind == recordPut {
			it.vector = d.floats(d.uvarint())
		}
		if kind != recordDelete {
			size := d.uvarint()
			it.at = len(body) - len(d.rest)
			it.payload = d.take(size)
		}
		if d.bad {
			return 0, nil, errRecord
		}
		items = append(items, it)
	}
	if len(d.rest) != 0 {
		return 0, nil, errRecord
	}
	return kind, items, nil
}

// decoder reads from the front of rest; once something is missing, bad stays
// set and everything reads as zero.
type decoder struct {
	rest []byte
	bad  bool
}

func (d *decoder) take(n uint64) []byte {
	if d.bad || n > uint64(len(d.rest)) {
		d.bad = true
		return nil
	}
	out := d.rest[:n:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) byte() byte {
	if b := d.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (d *decoder) uvarint() uint64 {
	v, n := binary.Uvarint(d.rest)
	if n <= 0 {
		d.bad = true
		return 0
	}
	d.take(uint64(n))
	return v
}

func (d *decoder) id() ID {
	b := d.take(idSize)
	if b == nil || (b[0] != byte(idNumber) && b[0] != byte(idUUID)) {
		d.bad = true
		return ID{}
	}
	return ID{kind: idKind(b[0]), hi: binary.LittleEndian.Uint64(b[1:9]), lo: binary.LittleEndian.Uint64(b[9:17])}
}

func (d *decoder) floats(n uint64) []float32 {
	if n > uint64(len(d.rest)/4) {
		d.bad = true
		return nil
	}
	b := d.take(4 * n)
	out := make([]float32, len(b)/4)
	for i := range out {
		out[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return out
}
