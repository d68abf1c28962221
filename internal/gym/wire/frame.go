package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Kind says what a frame's body is.
type Kind uint8

// The kinds. The platform sends KindHello first, with the limits of the process; everything a worker sends carries the
// nonce of that hello.
const (
	KindHello   Kind = iota + 1 // platform → worker: which layers to take on
	KindReady                   // worker → platform: the layers that are in force
	KindRefused                 // worker → platform: a layer is missing, and what to do about it
	KindLoad                    // platform → worker: Load
	KindLoaded                  // worker → platform: Loaded
	KindResets                  // platform → worker: Reset, repeated
	KindActions                 // platform → worker: Action, repeated
	KindResults                 // worker → platform: some answers to the batch, more follow
	KindLast                    // worker → platform: the last answers to the batch
	KindDrop                    // platform → worker: episode numbers to forget; answered by an empty KindLast
	KindProbe                   // platform → worker: try the sandbox from the inside
	KindProbed                  // worker → platform: what was possible; empty is well
)

// NonceSize is the length of the nonce that marks a worker's frames.
const NonceSize = 16

// Nonce marks the frames of one worker.
type Nonce [NonceSize]byte

// MaxFrame bounds the body of a frame. Batches are cut so that honest ones stay far below.
const MaxFrame = 64 << 20

const headerSize = 4 + NonceSize + 1

// Faults of the framing, all of them a peer that does not follow the protocol, except io.EOF between frames.
var (
	ErrFrameSize = errors.New("frame over the size limit")
	ErrNonce     = errors.New("frame with a foreign nonce")
	ErrCut       = errors.New("stream ends inside a frame")
)

// AppendHeader reserves the header of a frame at the end of buf; the body follows it and FinishFrame fills it in.
func AppendHeader(buf []byte, nonce Nonce, kind Kind) []byte {
	buf = append(buf, 0, 0, 0, 0)
	buf = append(buf, nonce[:]...)
	return append(buf, byte(kind))
}

// FinishFrame completes the frame that starts at the beginning of buf.
func FinishFrame(buf []byte) error {
	n := len(buf) - headerSize
	if n > MaxFrame {
		return fmt.Errorf("%w: %d bytes", ErrFrameSize, n)
	}
	binary.BigEndian.PutUint32(buf, uint32(n))
	return nil
}

// WriteFrame writes one frame with one call to w.
func WriteFrame(w io.Writer, nonce Nonce, kind Kind, body []byte) error {
	buf := AppendHeader(make([]byte, 0, headerSize+len(body)), nonce, kind)
	buf = append(buf, body...)
	if err := FinishFrame(buf); err != nil {
		return err
	}
	_, err := w.Write(buf)
	return err
}

// Reader reads frames. It is not safe for concurrent use.
type Reader struct {
	r   io.Reader
	buf []byte
	// at and end delimit what has been read from r and not yet returned.
	at, end int
	// Limit bounds a body; NewReader sets MaxFrame.
	Limit int
}

// NewReader reads frames from r, with few calls to it: what arrives together is read together.
func NewReader(r io.Reader) *Reader {
	return &Reader{r: r, buf: make([]byte, 64<<10), Limit: MaxFrame}
}

// Next returns the next frame. After an error of the underlying reader that passes, such as a deadline, it can be called
// again and goes on where it was. The body is valid until the next call. At the end of the stream the error is io.EOF
// between frames and ErrCut inside one. A body over the limit is refused before any of it is read.
func (r *Reader) Next() (nonce Nonce, kind Kind, body []byte, err error) {
	if err := r.fill(headerSize); err != nil {
		return nonce, 0, nil, err
	}
	header := r.buf[r.at : r.at+headerSize]
	size := int(binary.BigEndian.Uint32(header))
	copy(nonce[:], header[4:])
	kind = Kind(header[4+NonceSize])
	if size > r.Limit {
		return nonce, kind, nil, fmt.Errorf("%w: %d bytes, %d allowed", ErrFrameSize, size, r.Limit)
	}
	if err := r.fill(headerSize + size); err != nil {
		if errors.Is(err, io.EOF) {
			err = ErrCut
		}
		return nonce, kind, nil, err
	}
	body = r.buf[r.at+headerSize : r.at+headerSize+size]
	r.at += headerSize + size
	return nonce, kind, body, nil
}

// fill makes sure that n bytes are there. The buffer grows only as bytes arrive, so that a length alone costs nothing.
func (r *Reader) fill(n int) error {
	if r.end-r.at >= n {
		return nil
	}
	copy(r.buf, r.buf[r.at:r.end])
	r.at, r.end = 0, r.end-r.at
	for r.end < n {
		if r.end == len(r.buf) {
			r.buf = append(r.buf, make([]byte, min(n-r.end, len(r.buf)))...)
		}
		m, err := r.r.Read(r.buf[r.end:])
		r.end += m
		if r.end >= n {
			return nil
		}
		if err != nil {
			if errors.Is(err, io.EOF) && r.end > 0 {
				return ErrCut
			}
			return err
		}
	}
	return nil
}
