package jsondoc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/clip"
	"github.com/kagewasm/kagewasm/internal/jsonlex"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// Span is a piece of a source, from Start up to End. The zero Span stands for a
// value that is not there.
type Span struct{ Start, End int }

// OK reports whether there is such a value.
func (at Span) OK() bool { return at.End > 0 }

// Inner is what stands between the brackets of an object or a list.
func (at Span) Inner() Span { return Span{at.Start + 1, at.End - 1} }

// Source is a file that holds JSON, as one value or as one value a line.
// Nothing of it is copied, so its bytes must not change.
type Source struct {
	Name string // of the file, for errors
	Data []byte
	Text int // where the text begins, after a byte order mark
	// Look is asked now and then whether to go on reading; its error is a fault. Nil:
	// to the end.
	Look func() error

	fault error
}

// New returns the source of a file's bytes.
func New(name string, data []byte) *Source {
	s := &Source{Name: name, Data: data}
	if bytes.HasPrefix(data, []byte("\xef\xbb\xbf")) {
		s.Text = 3
	}
	return s
}

// Bytes returns the bytes of a value.
func (s *Source) Bytes(at Span) []byte { return s.Data[at.Start:at.End:at.End] }

// Kind returns the byte that a value begins with, which tells what it is: '{',
// '[', '"', 't', 'f', 'n', '-' or a digit; 0 where there is none.
func (s *Source) Kind(at Span) byte {
	if !at.OK() {
		return 0
	}
	return s.Data[at.Start]
}

// Unquote returns the text of a string.
func (s *Source) Unquote(at Span) string { return Unquote(s.Bytes(at)) }

// Bad returns the error for what stands at an offset, which becomes a line and
// a column.
func (s *Source) Bad(offset int, hint, format string, args ...any) error {
	offset = min(offset, len(s.Data))
	line := bytes.Count(s.Data[:offset], []byte("\n"))
	start := max(bytes.LastIndexByte(s.Data[:offset], '\n')+1, min(s.Text, offset))
	return &abi.Error{
		Code: abi.CodeBadInput, Op: "read",
		Message: fmt.Sprintf("%s: line %d, column %d: %s", s.Name, line+1,
			utf8.RuneCount(s.Data[start:offset])+1, fmt.Sprintf(format, args...)),
		Hint: hint,
	}
}

// Err returns the first fault that was found, whoever found it.
func (s *Source) Err() error { return s.fault }

// Note takes in a fault, unless there was one before.
func (s *Source) Note(err error) { s.fault = cmp.Or(s.fault, err) }

// GoOn reports whether to go on: there was no fault, and nobody wants to stop.
func (s *Source) GoOn() bool {
	if s.fault == nil && s.Look != nil {
		s.fault = s.Look()
	}
	return s.fault == nil
}

// Check refuses a piece of the source that is not one JSON value, or one that
// decoders read in more than one way: see [strictjson.CheckForeign].
func (s *Source) Check(at Span) error {
	err := strictjson.CheckForeignWithin(s.Bytes(at), strictjson.Limits{Look: s.Look})
	var fault *strictjson.Error
	if !errors.As(err, &fault) {
		return err
	}
	offset := at.Start + fault.Offset
	switch rest := bytes.TrimSpace(s.Data[offset:]); {
	case len(rest) == 0 && at.End > at.Start:
		return s.Bad(offset, "the file was cut off here: restore its end, or take the unfinished entry out",
			"json: the file ends inside a value")
	case offset < len(s.Data) && s.Data[offset] == 0:
		return s.Bad(offset, "take the NUL bytes out; they are what a crash leaves in a log", "json: a NUL byte")
	}
	return s.Bad(offset, "repair the JSON there", "json: %v", fault.Err)
}

// Whole is all of the text, without the white space around it.
func (s *Source) Whole() Span { return s.trim(Span{s.Text, len(s.Data)}) }

func (s *Source) trim(at Span) Span {
	for at.Start < at.End && jsonlex.IsSpace(s.Data[at.Start]) {
		at.Start++
	}
	for at.End > at.Start && jsonlex.IsSpace(s.Data[at.End-1]) {
		at.End--
	}
	return at
}

// Lines returns the lines that are not blank, without the white space around
// them, up to limit; all of them where limit is 0.
func (s *Source) Lines(limit int) (lines []Span) {
	for pos := s.Text; pos < len(s.Data) && (limit == 0 || len(lines) < limit); {
		end := len(s.Data)
		if i := bytes.IndexByte(s.Data[pos:], '\n'); i >= 0 {
			end = pos + i
		}
		if line := s.trim(Span{pos, end}); line.Start < line.End {
			lines = append(lines, line)
		}
		pos = end + 1
	}
	return lines
}

// Quoted quotes a text for an error, the beginning of a long one.
func Quoted(s string) string { return strconv.Quote(clip.Cut(s, 40, "...")) }
