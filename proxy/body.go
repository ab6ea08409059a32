package proxy

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// body is what a request brought. plain is nil where it is not to be looked at; rest is then
// what was not read of it.
type body struct {
	came, plain []byte
	rest        io.ReadCloser
}

// readBody reads a body of at most so many bytes, and decodes it.
func readBody(r *http.Request, most int64) (b body, err error) {
	if r.ContentLength > most {
		return body{rest: r.Body}, nil
	}
	var buf bytes.Buffer
	if r.ContentLength > 0 {
		buf.Grow(int(r.ContentLength) + bytes.MinRead)
	}
	if _, err = buf.ReadFrom(io.LimitReader(r.Body, most+1)); err != nil {
		return b, err
	}
	b.came = buf.Bytes()
	if int64(len(b.came)) > most {
		b.rest = r.Body
		return b, nil
	}
	_ = r.Body.Close()
	b.plain = decoded(b.came, r.Header.Values("Content-Encoding"), most)
	return b, nil
}

// decoded is nil where a body is in an encoding that is not known, or too large.
func decoded(data []byte, encodings []string, most int64) []byte {
	switch {
	case len(encodings) == 0, len(encodings) == 1 && encodings[0] == "identity":
		return data
	case len(encodings) > 1:
		return nil
	}
	var from io.Reader
	switch encodings[0] {
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return nil
		}
		from = z
	case "zstd":
		z, _ := unzstd.Get().(*zstd.Decoder)
		if z == nil || z.Reset(bytes.NewReader(data)) != nil {
			return nil
		}
		defer unzstd.Put(z)
		from = z
	default:
		return nil
	}
	var buf bytes.Buffer
	if n, err := buf.ReadFrom(io.LimitReader(from, most+1)); err != nil || n > most {
		return nil
	}
	return buf.Bytes()
}

// unzstd are decoders that take no more memory than a body may.
var unzstd = sync.Pool{New: func() any {
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20),
		zstd.WithDecoderLowmem(true))
	if err != nil {
		return (*zstd.Decoder)(nil)
	}
	return z
}}

// reader is the body as it came.
func (b *body) reader() io.ReadCloser {
	if b.rest == nil {
		return &once{b.came}
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(b.came), b.rest), b.rest}
}

// once reads bytes and lets go of them: a stream that answers them may last for long.
type once struct{ data []byte }

func (o *once) Read(b []byte) (int, error) {
	if len(o.data) == 0 {
		o.data = nil
		return 0, io.EOF
	}
	n := copy(b, o.data)
	o.data = o.data[n:]
	return n, nil
}

func (o *once) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(o.data)
	o.data = nil
	return int64(n), err
}

func (o *once) Close() error { return nil }
