package wire

import (
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"

	"github.com/seed256f7767/spade/plugins"
	"github.com/seed256f7767/spade/plugins/pluginpb"
)

// chunker is an io.Writer that fills chunks of a fixed size. Large writes go out without being copied.
type chunker struct {
	send  func([]byte) error
	buf   []byte
	total uint64
}

func (c *chunker) Write(p []byte) (int, error) {
	n := len(p)
	c.total += uint64(n)
	for len(p) > 0 {
		if len(c.buf) == 0 && len(p) >= plugins.ChunkBytes {
			if err := c.send(p[:plugins.ChunkBytes]); err != nil {
				return 0, err
			}
			p = p[plugins.ChunkBytes:]
			continue
		}
		k := min(len(p), plugins.ChunkBytes-len(c.buf))
		c.buf = append(c.buf, p[:k]...)
		p = p[k:]
		if len(c.buf) == plugins.ChunkBytes {
			if err := c.flush(); err != nil {
				return 0, err
			}
		}
	}
	return n, nil
}

func (c *chunker) flush() error {
	if len(c.buf) == 0 {
		return nil
	}
	err := c.send(c.buf)
	c.buf = make([]byte, 0, plugins.ChunkBytes) // the sent buffer belongs to the transport
	return err
}

// SendArrow writes the batches as one Arrow IPC stream in chunks and returns its end mark.
func SendArrow(batches plugins.Batches, send func(chunk []byte) error) (*pluginpb.ArrowEnd, error) {
	c := &chunker{send: send, buf: make([]byte, 0, plugins.ChunkBytes)}
	end := &pluginpb.ArrowEnd{}
	var w *ipc.Writer
	for rec, err := range batches {
		if err != nil {
			return nil, fmt.Errorf("read batch: %w", err)
		}
		if w == nil {
			w = ipc.NewWriter(c, ipc.WithSchema(rec.Schema()))
		}
		if err := w.Write(rec); err != nil {
			return nil, fmt.Errorf("write batch: %w", err)
		}
		end.Batches++
		end.Rows += uint64(rec.NumRows())
	}
	if w != nil {
		if err := w.Close(); err != nil {
			return nil, fmt.Errorf("close stream: %w", err)
		}
	}
	if err := c.flush(); err != nil {
		return nil, err
	}
	end.Bytes = c.total
	return end, nil
}

// Part is one message of a chunked Arrow stream: a chunk, or the end mark.
type Part struct {
	Chunk []byte
	End   *pluginpb.ArrowEnd
}

// ReceiveArrow reads an Arrow IPC stream from its parts. The sequence yields an error of class ErrShort when the parts
// stop before the end mark or the end mark disagrees: Arrow's own reader takes some cut streams for complete ones.
func ReceiveArrow(next func() (Part, error)) plugins.Batches {
	return func(yield func(arrow.Record, error) bool) {
		r := &partReader{next: next}
		rows, batches, stopped, err := readBatches(r, yield)
		if stopped {
			return
		}
		if err == nil {
			err = r.finish(rows, batches)
		}
		if r.err != nil && !errors.Is(r.err, io.EOF) {
			err = r.err
		}
		if err != nil {
			yield(nil, err)
		}
	}
}

func readBatches(r *partReader, yield func(arrow.Record, error) bool) (rows, batches uint64, stopped bool, err error) {
	empty, err := r.empty()
	if err != nil || empty {
		return 0, 0, false, err
	}
	rd, err := openReader(r)
	if err != nil {
		return 0, 0, false, err
	}
	defer rd.Release()
	for {
		rec, ok, err := nextRecord(rd)
		if err != nil || !ok {
			return rows, batches, false, err
		}
		batches++
		rows += uint64(rec.NumRows())
		if !yield(rec, nil) {
			return rows, batches, true, nil
		}
	}
}

func malformed(cause any) error {
	return &plugins.InvalidBatchError{Row: -1, Message: fmt.Sprint("malformed arrow stream: ", cause)}
}

// openReader and nextRecord recover: Arrow panics on some malformed streams, which to the reader of a stream are one more
// invalid input.
func openReader(r io.Reader) (rd *ipc.Reader, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = malformed(p)
		}
	}()
	if rd, err = ipc.NewReader(r); err != nil {
		return nil, malformed(err)
	}
	return rd, nil
}

func nextRecord(rd *ipc.Reader) (rec arrow.Record, ok bool, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = malformed(p)
		}
	}()
	if rd.Next() {
		return rd.Record(), true, nil
	}
	if err := rd.Err(); err != nil && !errors.Is(err, io.EOF) {
		return nil, false, malformed(err)
	}
	return nil, false, nil
}

// partReader is the bytes of the chunks. It remembers the end mark.
type partReader struct {
	next  func() (Part, error)
	buf   []byte
	total uint64
	end   *pluginpb.ArrowEnd
	err   error
}

func (r *partReader) fill() error {
	for len(r.buf) == 0 {
		if r.end != nil {
			return io.EOF
		}
		if r.err != nil {
			return r.err
		}
		p, err := r.next()
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("%w: it stopped before its end mark", ErrShort)
		}
		if err != nil {
			r.err = err
			return err
		}
		r.buf, r.end = p.Chunk, p.End
		r.total += uint64(len(p.Chunk))
	}
	return nil
}

func (r *partReader) Read(p []byte) (int, error) {
	if err := r.fill(); err != nil {
		return 0, err
	}
	n := copy(p, r.buf)
	r.buf = r.buf[n:]
	return n, nil
}

// empty reports whether the end mark comes first: a stream of no batch has no bytes.
func (r *partReader) empty() (bool, error) {
	err := r.fill()
	if errors.Is(err, io.EOF) && r.end != nil {
		return true, nil
	}
	return false, err
}

// finish reads on to the end mark and compares the counts.
func (r *partReader) finish(rows, batches uint64) error {
	for {
		err := r.fill()
		r.buf = nil
		if errors.Is(err, io.EOF) && r.end != nil {
			break
		}
		if err != nil {
			return err
		}
	}
	if r.end.Bytes != r.total || r.end.Rows != rows || r.end.Batches != batches {
		return fmt.Errorf("%w: %d rows in %d batches and %d bytes arrived, the end mark counts %d, %d and %d",
			ErrShort, rows, batches, r.total, r.end.Rows, r.end.Batches, r.end.Bytes)
	}
	return nil
}

// Records is the stream of records that are already there.
func Records(recs []arrow.Record) plugins.Batches {
	return func(yield func(arrow.Record, error) bool) {
		for _, r := range recs {
			if !yield(r, nil) {
				return
			}
		}
	}
}
