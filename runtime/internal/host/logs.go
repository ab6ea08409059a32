package host

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
)

// Logs collects what a guest logs in one call, up to the limit of the call.
// What comes later is dropped and counted.
type Logs struct {
	left    int // of the limit, in bytes
	lines   []abi.LogRequest
	dropped int
	parts   [2][]byte // of a line that has not ended, on stdout and on stderr
	redact  *strings.Replacer
}

// streamLevels are the levels of what a guest writes to stdout and stderr.
var streamLevels = [2]abi.LogLevel{abi.LogInfo, abi.LogWarn}

// lineOverhead is what a line costs beside its text, so that empty ones are
// not free.
const lineOverhead = 16

// add keeps a line, cut where the limit runs out in the middle of it. It is
// charged as it came, so that what cleaning takes away is not free.
func (l *Logs) add(level abi.LogLevel, text []byte) {
	if l.left <= lineOverhead {
		l.dropped++
		return
	}
	l.left -= lineOverhead
	line := clean(text, l.left, l.redact)
	l.left -= min(l.left, len(text))
	l.lines = append(l.lines, abi.LogRequest{Level: level, Message: line})
}

// write takes what a guest writes to a stream. It takes everything, and does no
// work for what is dropped.
func (l *Logs) write(stream int, p []byte) {
	part := &l.parts[stream]
	for len(p) > 0 {
		room := l.left - lineOverhead - len(*part)
		if room <= 0 {
			if len(*part) > 0 {
				l.end(stream)
			}
			l.dropped++
			return
		}
		line, _, ended := bytes.Cut(p[:min(len(p), room+1)], []byte("\n"))
		*part = append(*part, line...)
		p = p[len(line):]
		if ended {
			p = p[1:]
			l.end(stream)
		}
	}
}

// flush ends the last lines of both streams.
func (l *Logs) flush() {
	for stream, part := range l.parts {
		if len(part) > 0 {
			l.end(stream)
		}
	}
}

// lastError is the last line that the guest logged as an error, in as many bytes as belong
// into an error.
func (l *Logs) lastError() string {
	for i := len(l.lines) - 1; i >= 0; i-- {
		if l.lines[i].Level == abi.LogError {
			return clip.Cut(l.lines[i].Message, maxSaid, "...")
		}
	}
	return ""
}

// maxSaid is how much of a line an error quotes, in bytes.
const maxSaid = 400

func (l *Logs) end(stream int) {
	l.add(streamLevels[stream], l.parts[stream])
	l.parts[stream] = l.parts[stream][:0]
}

// Clone is a copy that shares nothing.
func (l *Logs) Clone() Logs {
	c := *l
	c.lines = slices.Clone(l.lines)
	c.parts = [2][]byte{slices.Clone(l.parts[0]), slices.Clone(l.parts[1])}
	return c
}

// log answers the op log.
type log struct{}

func (*log) answer(_ context.Context, c *Call, r abi.LogRequest) (any, error) {
	switch r.Level {
	case abi.LogDebug, abi.LogInfo, abi.LogWarn, abi.LogError:
	case "":
		r.Level = abi.LogInfo
	default:
		return nil, &abi.Error{Code: abi.CodeUsage, Message: "level: use debug, info, warn or error"}
	}
	c.Logs.add(r.Level, []byte(r.Message))
	return nil, nil
}
