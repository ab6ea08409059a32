package transcript

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
)

// source is the file being read. Nothing of it is copied: whoever refers to a
// piece of it holds a span.
type source struct {
	name string
	data []byte
	body int // where the text begins, after a byte order mark
	// Set by look: the first JSON value, and whether the file is one value a
	// line rather than one value.
	first span
	lines bool
	// Of a recording (see unwrap): first is the request of the exchange, and
	// response is what came back, empty where that is no object.
	recorded           bool
	exchange, response span
}

// span is a piece of a source, from start up to end.
type span struct{ start, end int }

func newSource(name string, data []byte) *source {
	s := &source{name: name, data: data}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		s.body = 3
	}
	return s
}

func (s *source) bytes(at span) []byte { return s.data[at.start:at.end:at.end] }

func (s *source) notEmpty() error {
	if len(bytes.TrimSpace(s.data[s.body:])) > 0 {
		return nil
	}
	return &abi.Error{
		Code: abi.CodeBadInput, Op: "read",
		Message: s.name + ": the file is empty",
		Hint:    "give a session that has at least one message",
	}
}

// bad is the error for what stands at an offset.
func (s *source) bad(offset int, hint, format string, args ...any) error {
	offset = min(offset, len(s.data))
	line := bytes.Count(s.data[:offset], []byte("\n"))
	start := max(bytes.LastIndexByte(s.data[:offset], '\n')+1, min(s.body, offset))
	return &abi.Error{
		Code: abi.CodeBadInput, Op: "read",
		Message: fmt.Sprintf("%s: line %d, column %d: %s", s.name, line+1,
			utf8.RuneCount(s.data[start:offset])+1, fmt.Sprintf(format, args...)),
		Hint: hint,
	}
}

// check validates a piece of the source as one JSON document.
func (s *source) check(at span) error {
	err := abi.CheckForeignJSON(s.bytes(at))
	var fault *abi.JSONError
	if !errors.As(err, &fault) {
		return err
	}
	offset := at.start + fault.Offset
	switch rest := bytes.TrimSpace(s.data[offset:]); {
	case len(rest) == 0 && at.end > at.start:
		return s.bad(offset, "the file was cut off here: restore its end, or take the unfinished entry out",
			"json: the file ends inside a value")
	case s.data[offset] == 0:
		return s.bad(offset, "take the NUL bytes out; they are what a crash leaves in a log", "json: a NUL byte")
	}
	return s.bad(offset, "repair the JSON there", "json: %v", fault.Err)
}

// look finds out how the file is built, and its first value.
func (s *source) look() error {
	lines := s.split(2)
	if s.check(lines[0]) == nil {
		s.first = lines[0]
		s.lines = len(lines) > 1 || s.data[s.first.start] == '{'
		if s.first == s.whole() {
			s.unwrap()
		}
		return nil
	}
	s.first = s.whole()
	err := s.check(s.first)
	if err == nil {
		s.unwrap()
	}
	if err != nil && len(lines) > 1 && s.data[lines[1].start] == '{' && s.check(lines[1]) == nil {
		return s.check(lines[0]) // one value a line, and the first is broken
	}
	return err
}

// whole is all of the text without the white space around it.
func (s *source) whole() span { return s.trim(span{s.body, len(s.data)}) }

func (s *source) trim(at span) span {
	for at.start < at.end && isSpace(s.data[at.start]) {
		at.start++
	}
	for at.end > at.start && isSpace(s.data[at.end-1]) {
		at.end--
	}
	return at
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }

// split returns the lines that are not blank, without the white space around
// them, up to limit; all where limit is 0.
func (s *source) split(limit int) []span {
	var lines []span
	for pos := s.body; pos < len(s.data); {
		end := len(s.data)
		if i := bytes.IndexByte(s.data[pos:], '\n'); i >= 0 {
			end = pos + i
		}
		if line := s.trim(span{pos, end}); line.start < line.end {
			if lines = append(lines, line); len(lines) == limit {
				break
			}
		}
		pos = end + 1
	}
	return lines
}

func quoted(s string) string {
	if len(s) > 40 {
		s = s[:40] + "..."
	}
	return strconv.Quote(s)
}
