package front

import (
	"compress/gzip"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/url"
	"strings"

	"github.com/ClickHouse/ch-go/compress"
	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"

	"github.com/seed256f7767/spade/internal/embedded/clickhouse/engine"
)

// answerEncodings are what an answer may be compressed with, the preferred first.
var answerEncodings = []string{"zstd", "gzip", "br", "deflate"}

// compression decides how the answer is compressed. As in ClickHouse, a client asks for HTTP compression with
// enable_http_compression as well as the header.
func (r *request) compression(hr *http.Request, values url.Values) {
	if enabled(values.Get("enable_http_compression")) {
		accepted := map[string]bool{}
		for part := range strings.SplitSeq(hr.Header.Get("Accept-Encoding"), ",") {
			name, quality, _ := strings.Cut(strings.TrimSpace(part), ";")
			accepted[strings.ToLower(strings.TrimSpace(name))] = strings.ReplaceAll(quality, " ", "") != "q=0"
		}
		for _, name := range answerEncodings {
			if accepted[name] {
				r.encoding = name
				break
			}
		}
	}
	if enabled(values.Get("compress")) {
		r.blocks = strings.ToLower(first(values.Get("network_compression_method"), "lz4"))
	}
}

// encoder compresses what is written, for the HTTP header Content-Encoding.
func encoder(w io.Writer, encoding string) (io.WriteCloser, error) {
	switch encoding {
	case "gzip":
		return gzip.NewWriterLevel(w, gzip.BestSpeed)
	case "deflate":
		return zlib.NewWriterLevel(w, zlib.BestSpeed)
	case "br":
		return brotli.NewWriterLevel(w, brotli.BestSpeed), nil
	case "zstd":
		return zstd.NewWriter(w, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1))
	default:
		return nopCloser{w}, nil
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }

// blockWriter frames what is written as ClickHouse's compressed blocks.
type blockWriter struct {
	out io.WriteCloser
	c   *compress.Writer
	buf []byte
}

const blockSize = 1 << 20

func newBlockWriter(out io.WriteCloser, method string) (*blockWriter, error) {
	m := compress.LZ4
	switch method {
	case "lz4":
	case "zstd":
		m = compress.ZSTD
	case "none":
		m = compress.None
	default:
		return nil, &engine.Error{Code: engine.CodeNotImplemented, Message: "compress=1 with the method " + method + " is not supported: use LZ4, ZSTD or NONE"}
	}
	return &blockWriter{out: out, c: compress.NewWriter(0, m)}, nil
}

func (b *blockWriter) Write(p []byte) (int, error) {
	size := len(p)
	for len(p) > 0 {
		n := min(len(p), blockSize-len(b.buf))
		b.buf = append(b.buf, p[:n]...)
		p = p[n:]
		if len(b.buf) == blockSize {
			if err := b.block(); err != nil {
				return 0, err
			}
		}
	}
	return size, nil
}

// Flush ends a block early.
func (b *blockWriter) Flush() error {
	err := b.block()
	flush(b.out)
	return err
}

func (b *blockWriter) block() error {
	if len(b.buf) == 0 {
		return nil
	}
	if err := b.c.Compress(b.buf); err != nil {
		return fmt.Errorf("compress a block: %w", err)
	}
	b.buf = b.buf[:0]
	_, err := b.out.Write(b.c.Data)
	return err
}

func (b *blockWriter) Close() error {
	if err := b.block(); err != nil {
		return err
	}
	return b.out.Close()
}

// decodeBody undoes the Content-Encoding and the block compression (decompress=1) of a request's body.
func decodeBody(r *http.Request, values url.Values) (io.Reader, error) {
	var body io.Reader = r.Body
	var err error
	switch encoding := strings.ToLower(r.Header.Get("Content-Encoding")); encoding {
	case "", "identity":
	case "gzip", "x-gzip":
		body, err = gzip.NewReader(body)
	case "deflate":
		body, err = zlib.NewReader(body)
	case "br":
		body = brotli.NewReader(body)
	case "lz4":
		body = lz4.NewReader(body)
	case "zstd":
		var d *zstd.Decoder
		if d, err = zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20)); err == nil {
			body = d
		}
	default:
		return nil, &engine.Error{Code: engine.CodeNotImplemented, Message: "the Content-Encoding " + encoding + " is not supported: use gzip, deflate, br, lz4 or zstd"}
	}
	if err != nil {
		return nil, &engine.Error{Code: codeCannotRead, Message: "the body is not what its Content-Encoding says: " + err.Error()}
	}
	if enabled(values.Get("decompress")) {
		return blockReader{compress.NewReader(body)}, nil
	}
	return body, nil
}

// blockReader reads compressed blocks. The library under it reports a clean end, before the header of a block, as an
// error around io.EOF, and a cut behind a header likewise: only the text tells them apart.
type blockReader struct{ in io.Reader }

func (b blockReader) Read(p []byte) (int, error) {
	n, err := b.in.Read(p)
	if errors.Is(err, io.EOF) && strings.HasSuffix(err.Error(), "header: EOF") {
		err = io.EOF
	} else if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return n, err
}

func multipartReader(body io.Reader, boundary string) *multipart.Reader {
	return multipart.NewReader(body, boundary)
}
