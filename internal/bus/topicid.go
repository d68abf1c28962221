package bus

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/google/uuid"
	"github.com/segmentio/kafka-go"
	"github.com/segmentio/kafka-go/protocol"
)

// TopicIDs returns the ids that the cluster gave to topics when they were created. A topic that was deleted and created again
// has another one, and its offsets begin at 0 again. A topic that does not exist is ErrNoTopic. Brokers before Kafka 2.8 have
// no such ids: the result is then empty.
func (c *Client) TopicIDs(ctx context.Context, topicNames ...string) (map[string]uuid.UUID, error) {
	out := map[string]uuid.UUID{}
	err := c.retry(ctx, "look up topic ids", func(ctx context.Context) error {
		known, err := c.answersWithIDs(ctx)
		if err != nil || !known {
			return err
		}
		res, err := c.transport.RoundTrip(ctx, c.kafka.Addr, &idsRequest{names: c.allOnWire(topicNames)})
		if err != nil {
			return err
		}
		clear(out)
		for _, t := range res.(*idsResponse).topics {
			if t.code == int16(kafka.UnknownTopicOrPartition) {
				return fmt.Errorf("topic %s: %w", t.name, ErrNoTopic)
			}
			if t.code != 0 {
				return fmt.Errorf("topic %s: %w", t.name, kafka.Error(t.code))
			}
			out[c.offWire(t.name)] = t.id
		}
		return nil
	})
	return out, err
}

// answersWithIDs asks, once, whether the brokers know the version of the request that answers with ids.
func (c *Client) answersWithIDs(ctx context.Context) (bool, error) {
	if v := c.metadataVersion.Load(); v > 0 {
		return v >= idsVersion, nil
	}
	res, err := c.kafka.ApiVersions(ctx, &kafka.ApiVersionsRequest{})
	if err != nil {
		return false, err
	}
	for _, k := range res.ApiKeys {
		if k.ApiKey == int(protocol.Metadata) {
			c.metadataVersion.Store(int32(k.MaxVersion))
			return k.MaxVersion >= idsVersion, nil
		}
	}
	return false, errors.New("the broker does not list the metadata request")
}

// idsVersion is the version of the metadata request used here. kafka-go speaks an older one, whose answer has no ids and is
// served from a cache.
const idsVersion = 12

// idsRequest is a metadata request that puts itself on the connection.
type idsRequest struct{ names []string }

// idsResponse is the part of the answer that is used.
type idsResponse struct{ topics []topicID }

type topicID struct {
	code int16
	name string
	id   uuid.UUID
}

var _ protocol.RawExchanger = (*idsRequest)(nil)

// ApiKey implements protocol.Message.
func (*idsRequest) ApiKey() protocol.ApiKey { return protocol.Metadata } //nolint:revive // the interface's name

// ApiKey implements protocol.Message.
func (*idsResponse) ApiKey() protocol.ApiKey { return protocol.Metadata } //nolint:revive // the interface's name

// Required implements protocol.RawExchanger.
func (*idsRequest) Required(map[protocol.ApiKey]int16) bool { return true }

// RawExchange implements protocol.RawExchanger.
func (r *idsRequest) RawExchange(rw io.ReadWriter) (protocol.Message, error) {
	if _, err := rw.Write(r.encode()); err != nil {
		return nil, err
	}
	var size [4]byte
	if _, err := io.ReadFull(rw, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxIDsAnswer {
		return nil, fmt.Errorf("an answer of %d bytes to a question about %d topics", n, len(r.names))
	}
	body := make([]byte, n)
	if _, err := io.ReadFull(rw, body); err != nil {
		return nil, err
	}
	return decodeIDs(body)
}

const maxIDsAnswer = 16 << 20

func (r *idsRequest) encode() []byte {
	b := make([]byte, 4, 64+64*len(r.names))
	b = binary.BigEndian.AppendUint16(b, uint16(protocol.Metadata))
	b = binary.BigEndian.AppendUint16(b, idsVersion)
	b = binary.BigEndian.AppendUint32(b, 0)                     // correlation id: one request at a time
	b = append(binary.BigEndian.AppendUint16(b, 5), "spade"...) // client id
	b = append(b, 0)                                            // no tags of the header
	b = binary.AppendUvarint(b, uint64(len(r.names)+1))         // compact lengths are one more
	for _, name := range r.names {
		b = append(b, make([]byte, 16)...) // asked for by name
		b = append(binary.AppendUvarint(b, uint64(len(name)+1)), name...)
		b = append(b, 0)
	}
	b = append(b, 0, 0, 0) // create nothing, no authorisations, no tags
	binary.BigEndian.PutUint32(b, uint32(len(b)-4))
	return b
}

func decodeIDs(body []byte) (*idsResponse, error) {
	d := wire{rest: body}
	d.take(4) // correlation id
	d.tags()
	d.take(4) // throttle time
	for range d.length() {
		d.take(4) // broker
		d.text()
		d.take(4)
		d.text()
		d.tags()
	}
	d.text()  // cluster id
	d.take(4) // controller
	out := &idsResponse{}
	for range d.length() {
		t := topicID{code: int16(d.uint16()), name: d.text()}
		copy(t.id[:], d.take(16))
		d.take(1)
		d.partitions()
		d.take(4)
		d.tags()
		out.topics = append(out.topics, t)
	}
	if d.bad {
		return nil, fmt.Errorf("metadata answer: %w", io.ErrUnexpectedEOF)
	}
	return out, nil
}

// wire reads Kafka's flexible encoding from the front of rest. Once something is missing, bad stays set and everything reads as
// nothing.
type wire struct {
	rest []byte
	bad  bool
}

func (d *wire) take(n int) []byte {
	if d.bad || n < 0 || n > len(d.rest) {
		d.bad = true
		return nil
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out
}

func (d *wire) uint16() uint16 {
	if b := d.take(2); b != nil {
		return binary.BigEndian.Uint16(b)
	}
	return 0
}

// length is that of a compact list or text; one that is null counts as empty.
func (d *wire) length() int {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > uint64(len(d.rest)) {
		d.bad = true
		return 0
	}
	d.take(size)
	return max(0, int(n)-1)
}

func (d *wire) text() string { return string(d.take(d.length())) }

func (d *wire) tags() {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 || n > uint64(len(d.rest)) {
		d.bad = true
		return
	}
	d.take(size)
	for range n {
		_, size := binary.Uvarint(d.rest)
		d.take(size)
		bytes, size := binary.Uvarint(d.rest)
		if size <= 0 || bytes > uint64(len(d.rest)) {
			d.bad = true
			return
		}
		d.take(size + int(bytes))
	}
}

func (d *wire) partitions() {
	for range d.length() {
		d.take(2 + 4 + 4 + 4) // error, number, leader, epoch
		for range 3 {         // replicas, those in sync, those that are offline
			d.take(4 * d.length())
		}
		d.tags()
	}
}
