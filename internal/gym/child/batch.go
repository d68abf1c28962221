package child

import (
	"fmt"
	"time"

	"github.com/seed256f7767/spade/internal/gym/wire"
)

// Answers are sent before a batch is through when they have grown to flushBytes or the batch has taken flushAfter, so
// that the parent's deadline is one for the single call and not for the batch. The clock moves only where a frame is cut.
const (
	flushBytes = wire.FlushBytes
	flushAfter = 50 * time.Millisecond
)

// batch answers every message of a body in order. A body starts with a flag: careful means a frame for every answer, so
// that the parent knows which call a death belongs to.
func (w *worker) batch(body string, answer func(*wire.Decoder, *wire.Encoder)) error {
	if w.env == nil {
		return fmt.Errorf("%w: nothing is loaded", errProtocol)
	}
	d := wire.NewDecoder(body)
	careful := d.Bool()
	e := wire.Encoder{Buf: wire.AppendHeader(w.out[:0], w.nonce, wire.KindResults)}
	empty := len(e.Buf)
	began := time.Now()
	for d.More() {
		answer(d, &e)
		if !d.More() {
			break
		}
		if !careful && len(e.Buf) < flushBytes && time.Since(began) < flushAfter {
			continue
		}
		if err := w.write(e.Buf); err != nil {
			return err
		}
		e.Buf = e.Buf[:empty]
		began = time.Now()
	}
	if err := d.End(); err != nil {
		return err
	}
	e.Buf[empty-1] = byte(wire.KindLast)
	w.out = e.Buf
	if cap(w.out) > 4*flushBytes {
		w.out = nil // a worker's memory belongs to the environment
	}
	return w.write(e.Buf)
}

func (w *worker) write(frame []byte) error {
	if err := wire.FinishFrame(frame); err != nil {
		return err
	}
	_, err := descriptor(resultFD).Write(frame)
	return err
}

func (w *worker) send(kind wire.Kind, body func(*wire.Encoder)) error {
	e := wire.Encoder{Buf: wire.AppendHeader(nil, w.nonce, kind)}
	body(&e)
	return w.write(e.Buf)
}
