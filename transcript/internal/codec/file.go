package codec

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// File is a session file that is being read.
//
// It may be a recording: a list of exchanges with a provider, or one of them,
// {"request":{...},"response":{...}}. The session is the latest exchange that
// carries messages, since it repeats what those before it said. Its messages
// are those of the request and, as the last one, the response, unless that is
// the text of a stream. What a server remembers for its client (a conversation,
// a previous response) is not part of it.
//
// A recording says what was sent, so it is written as it was read. Once messages
// changed, the request alone is written: a body to send, with the response's
// message at its end.
type File struct {
	*jsondoc.Source
	// First is the first JSON value, or the request of a recording. Lined says
	// that the file is one value a line. Both are set by Inspect.
	First jsondoc.Span
	Lined bool
	// Exchange is the exchange of a recording, if the file is one, and response
	// what came back, if it is an object.
	Exchange, response jsondoc.Span
}

// NewFile returns the file of some bytes. It refuses white space alone, and text that
// is no JSON from its beginning.
func NewFile(name string, data []byte) (*File, error) {
	f := &File{Source: jsondoc.New(name, data)}
	if len(bytes.TrimSpace(data[f.Text:])) == 0 {
		holds := "the file is empty"
		if len(data) > 0 {
			holds = "there is nothing but blanks in the file"
		}
		return nil, &abi.Error{
			Code: abi.CodeBadInput, Op: "read",
			Message: name + ": " + holds,
			Hint:    "give a session that has at least one message",
		}
	}
	if start := f.Whole().Start; isWord(data[start:]) {
		what := "this is text, and no JSON"
		if !isText(data[start:]) {
			what = "this is no text"
		}
		return nil, f.Bad(start, "give a session in one of the known formats, all of which are JSON", "%s", what)
	}
	return f, nil
}

// isText reports whether bytes are those of a text, as far as the first of them show.
func isText(data []byte) bool {
	const looked = 512
	head := data[:min(len(data), looked)]
	for i := 0; i < len(head); {
		r, n := utf8.DecodeRune(head[i:])
		if r == 0 || r == utf8.RuneError && n == 1 && len(head)-i >= utf8.UTFMax {
			return false
		}
		i += n
	}
	return true
}

// isWord reports whether text begins as prose or source code does. No format begins
// with the words that JSON has.
func isWord(text []byte) bool {
	r, _ := utf8.DecodeRune(text)
	return unicode.IsLetter(r) || r != utf8.RuneError && strings.ContainsRune("#<-*/>|`'(%;:@$", r)
}

// Inspect finds out how the file is built. Where it is broken there is no First.
func (f *File) Inspect() {
	lines := f.Source.Lines(2)
	first := f.Check(lines[0])
	if f.First = lines[0]; first == nil {
		f.Lined = len(lines) > 1 || f.Kind(f.First) == '{'
		if f.First == f.Whole() {
			f.unwrap()
		}
		return
	}
	f.First = f.Whole()
	err := f.Check(f.First)
	if err == nil {
		f.unwrap()
		return
	}
	if len(lines) > 1 && f.Kind(lines[1]) == '{' && f.Check(lines[1]) == nil {
		err = first // one value a line, and the first is broken
	}
	f.Note(err)
	f.First = jsondoc.Span{}
}

// unwrap finds the request to read in a recording.
func (f *File) unwrap() {
	exchanges := []jsondoc.Span{f.First}
	if f.Kind(f.First) == '[' {
		exchanges = f.Elements(f.First)
	}
	for i := len(exchanges) - 1; i >= 0; i-- {
		if f.Kind(exchanges[i]) != '{' {
			return
		}
		o := f.Probe(exchanges[i], "an exchange")
		request, response := o.Raw("request"), o.Raw("response")
		if !request.OK() || !response.OK() {
			return
		}
		if !f.carriesMessages(request) {
			continue
		}
		f.Exchange, f.First, f.Lined = exchanges[i], request, false
		if f.Kind(response) == '{' {
			f.response = response
		}
		return
	}
}

func (f *File) carriesMessages(request jsondoc.Span) bool {
	if f.Kind(request) != '{' {
		return false
	}
	o := f.Probe(request, "the request")
	return o.Is("messages", '[') || o.Is("input", '[') || o.Is("input", '"') || o.Is("contents", '[')
}

// frame is the piece of the source to write: the file, or a recorded request.
func (f *File) frame() jsondoc.Span {
	if f.Exchange.OK() {
		return f.First
	}
	return jsondoc.Span{Start: 0, End: len(f.Data)}
}

// Document opens the first value, after which nothing may follow. It has no
// fields where it is no object.
func (f *File) Document(known ...string) *jsondoc.Object {
	if !f.First.OK() {
		f.Inspect()
	}
	f.Lined = false
	if whole := f.Whole(); f.Err() == nil && !f.Exchange.OK() && whole != f.First {
		f.Note(f.Check(whole))
		f.First = jsondoc.Span{}
	}
	if f.Kind(f.First) != '{' {
		return f.None(f.First)
	}
	return f.Open(f.First, "the document", known...)
}

// ProbeDocument is Document for [Format.Detect]: it notes no faults.
func (f *File) ProbeDocument() *jsondoc.Object {
	if f.Kind(f.First) != '{' {
		return f.None(f.First)
	}
	return f.Probe(f.First, "the document")
}

// Answer opens the response of a recording. It has no fields where there is
// none, or where its keys are ambiguous.
func (f *File) Answer(known ...string) *jsondoc.Object {
	if f.response.OK() {
		if o := f.Probe(f.response, "the response", known...); o.Err() == nil {
			return o
		}
	}
	return f.None(f.response)
}

// Body finds the list of messages: the document itself, or what stands under one
// of the keys. Otherwise it says why there is none.
func (f *File) Body(body *jsondoc.Object, keys ...string) (list jsondoc.Span, why string) {
	switch f.Kind(f.First) {
	case '[':
		return f.First, ""
	case '{':
		for _, key := range keys {
			if body.Is(key, '[') {
				return body.Value(key), ""
			}
		}
		return list, NoList(keys...)
	}
	return list, "neither a list nor an object"
}

// BodyLog returns the log of the list that [File.Body] finds, with the model and
// the tools beside it. hint says what to do where there is no list.
func (f *File) BodyLog(body *jsondoc.Object, hint string, keys ...string) *Log {
	about := ReadAbout(body)
	list, why := f.Body(body, keys...)
	if why != "" {
		body.Fail(body.At.Start, hint, "%s", why)
	}
	l := f.ListLog(list)
	l.About = about
	return l
}

// NoList is the text for a document with no list under any of the keys.
func NoList(keys ...string) string { return `no list under "` + strings.Join(keys, `" or "`) + `"` }
