package runtime

import (
	"bytes"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// logSink collects what a guest logs in one call, up to the limit of the call.
// What comes later is dropped and counted.
type logSink struct {
	left    int
	lines   []abi.LogRequest
	dropped int
	redact  *strings.Replacer
}

// lineOverhead is what a line costs beside its text, so that empty ones are
// not free.
const lineOverhead = 16

// add keeps a line, cut where the limit runs out in the middle of it. It is
// charged as it came, so that what cleaning takes away is not free.
func (s *logSink) add(level abi.LogLevel, text []byte) {
	if s.left <= lineOverhead {
		s.dropped++
		return
	}
	s.left -= lineOverhead
	line := clean(text, s.left, s.redact)
	s.left -= min(s.left, len(text))
	s.lines = append(s.lines, abi.LogRequest{Level: level, Message: line})
}

// clean makes foreign text safe to show: no secrets, no control characters.
// It looks at no more than about limit bytes.
func clean(text []byte, limit int, redact *strings.Replacer) string {
	if len(text) > limit+maxSecretBytes {
		text = text[:limit+maxSecretBytes]
	}
	s := string(text)
	if redact != nil {
		s = redact.Replace(s)
	}
	return clip.Head(abi.Defuse(s), limit)
}

// maxSecretBytes is how long a secret may be.
const maxSecretBytes = 16 << 10

// newRedactor replaces the values of secrets. Nil where there are none.
func newRedactor(secrets map[string]string) *strings.Replacer {
	var pairs []string
	for name, value := range secrets {
		if value != "" {
			pairs = append(pairs, value, "[secret "+name+"]")
		}
	}
	if pairs == nil {
		return nil
	}
	return strings.NewReplacer(pairs...)
}

// lineWriter turns a stream of WASI into log lines.
type lineWriter struct {
	sink  *logSink
	level abi.LogLevel
	part  []byte // of a line that has not ended yet
}

// Write implements io.Writer. It takes everything, and does no work for what
// is dropped.
func (w *lineWriter) Write(p []byte) (int, error) {
	n := len(p)
	for len(p) > 0 {
		room := w.sink.left - lineOverhead - len(w.part)
		if room <= 0 {
			w.flush()
			w.sink.dropped++
			return n, nil
		}
		line, _, ended := bytes.Cut(p[:min(len(p), room+1)], []byte("\n"))
		w.part = append(w.part, line...)
		p = p[len(line):]
		if ended {
			p = p[1:]
			w.end()
		}
	}
	return n, nil
}

// flush ends the last line.
func (w *lineWriter) flush() {
	if len(w.part) > 0 {
		w.end()
	}
}

func (w *lineWriter) end() {
	w.sink.add(w.level, w.part)
	w.part = w.part[:0]
}
