//go:build linux

package chaos

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kmsg"
)

// kafkaRelay forwards to the brokers of a cluster. A broker tells its clients where the brokers are, so answers that hold
// addresses are rewritten to lead through the relay, which has a listener for each broker.
type kafkaRelay struct {
	t *testing.T

	mu     sync.Mutex // guards the following
	relays map[string]*relay
}

func newKafkaRelay(t *testing.T) *kafkaRelay {
	return &kafkaRelay{t: t, relays: map[string]*relay{}}
}

// through is the relay to a broker.
func (k *kafkaRelay) through(broker string) *relay {
	k.mu.Lock()
	defer k.mu.Unlock()
	r := k.relays[broker]
	if r == nil {
		r = newRelay(k.t, broker, k.forward)
		k.relays[broker] = r
	}
	return r
}

func (k *kafkaRelay) all() []*relay {
	k.mu.Lock()
	defer k.mu.Unlock()
	var out []*relay
	for _, r := range k.relays {
		out = append(out, r)
	}
	return out
}

// asked is the requests of a connection that have no answer yet, by their correlation id.
type asked struct {
	mu      sync.Mutex // guards the following
	waiting map[int32]request
}

type request struct{ key, version int16 }

func (a *asked) put(id int32, r request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.waiting[id] = r
}

func (a *asked) take(id int32) request {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := a.waiting[id]
	delete(a.waiting, id)
	return r
}

// forward copies frame by frame.
func (k *kafkaRelay) forward(p *passage) {
	open := &asked{waiting: map[int32]request{}}
	p.each(
		func() { k.requests(p, open) },
		func() { k.answers(p, open) },
	)
}

func (k *kafkaRelay) requests(p *passage, open *asked) {
	for {
		frame, err := readFrame(p.client)
		if err != nil {
			return
		}
		if len(frame) >= 8 {
			r := request{int16(binary.BigEndian.Uint16(frame)), int16(binary.BigEndian.Uint16(frame[2:]))}
			open.put(int32(binary.BigEndian.Uint32(frame[4:])), r)
		}
		if writeFrame(p, p.server, frame) != nil {
			return
		}
	}
}

func (k *kafkaRelay) answers(p *passage, open *asked) {
	for {
		frame, err := readFrame(p.server)
		if err != nil || len(frame) < 4 {
			return
		}
		frame, err = k.rewrite(frame, open.take(int32(binary.BigEndian.Uint32(frame))))
		if err != nil || writeFrame(p, p.client, frame) != nil {
			return
		}
	}
}

// rewrite leads the addresses in an answer through the relay.
func (k *kafkaRelay) rewrite(frame []byte, to request) ([]byte, error) {
	var res kmsg.Response
	switch kmsg.Key(to.key) {
	case kmsg.Metadata:
		res = kmsg.NewPtrMetadataResponse()
	case kmsg.FindCoordinator:
		res = kmsg.NewPtrFindCoordinatorResponse()
	default:
		return frame, nil
	}
	res.SetVersion(to.version)
	head := 4
	if res.IsFlexible() {
		head++ // tags of the header: none
	}
	if len(frame) < head {
		return nil, io.ErrUnexpectedEOF
	}
	if err := res.ReadFrom(frame[head:]); err != nil {
		return nil, fmt.Errorf("read answer to %d.%d: %w", to.key, to.version, err)
	}
	var err error
	switch m := res.(type) {
	case *kmsg.MetadataResponse:
		for i := range m.Brokers {
			err = errors.Join(err, k.lead(&m.Brokers[i].Host, &m.Brokers[i].Port))
		}
	case *kmsg.FindCoordinatorResponse:
		if m.Host != "" {
			err = k.lead(&m.Host, &m.Port)
		}
		for i := range m.Coordinators {
			err = errors.Join(err, k.lead(&m.Coordinators[i].Host, &m.Coordinators[i].Port))
		}
	}
	return res.AppendTo(frame[:head:head]), err
}

func (k *kafkaRelay) lead(host *string, port *int32) error {
	if *port <= 0 {
		return nil // no coordinator yet
	}
	addr := k.through(net.JoinHostPort(*host, strconv.Itoa(int(*port)))).addr()
	h, p, err := net.SplitHostPort(addr)
	if err != nil {
		return err
	}
	n, err := strconv.Atoi(p)
	*host, *port = h, int32(n)
	return err
}

// maxFrame is above any request of the program.
const maxFrame = 128 << 20

func readFrame(r io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	n := binary.BigEndian.Uint32(size[:])
	if n > maxFrame {
		return nil, fmt.Errorf("frame of %d bytes", n)
	}
	frame := make([]byte, n)
	_, err := io.ReadFull(r, frame)
	return frame, err
}

func writeFrame(p *passage, to io.Writer, frame []byte) error {
	return p.pass(to, append(binary.BigEndian.AppendUint32(nil, uint32(len(frame))), frame...))
}
