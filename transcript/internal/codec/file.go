package codec

import (
	"bytes"
	"strings"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// File is a session file that is being read.
//
// A recording is a list of exchanges with a provider, or one of them:
// {"request":{...},"response":{...}}. Its session is the latest exchange that
// carries messages: those of the request, and the response as the last one
// where it is an object (the text of a stream is not read). What the exchanges
// before it said, the latest says again; what a server remembers for its client
// (a conversation, a previous response) is not part of it.
//
// A recording says what was sent. So it is written as it was read, or, where
// messages changed, the request alone is written: a body to send, with the
// response's message as the last of the list.
type File struct {
	*jsondoc.Source
	// Set by Look: the first JSON value, or the request of a recording, and
	// whether the file is one value a line rather than one value.
	First jsondoc.Span
	Lined bool
	// Exchange is the exchange of a recording, and response what came back;
	// they are not there where the file is none, or the response no object.
	Exchange, response jsondoc.Span
}

// NewFile refuses a file of white space alone.
func NewFile(name string, data []byte) (*File, error) {
	f := &File{Source: jsondoc.New(name, data)}
	if len(bytes.TrimSpace(data[f.Text:])) == 0 {
		return nil, &abi.Error{
			Code: abi.CodeBadInput, Op: "read",
			Message: name + ": the file is empty",
			Hint:    "give a session that has at least one message",
		}
	}
	return f, nil
}

// Look finds out how the file is built, and its first value, which is not there
// where the file is broken.
func (f *File) Look() {
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

// unwrap finds the body to read in a recording.
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

// frame is the piece of the source that is a document of its own.
func (f *File) frame() jsondoc.Span {
	if f.Exchange.OK() {
		return f.First
	}
	return jsondoc.Span{Start: 0, End: len(f.Data)}
}

// Document makes sure that nothing follows the first value, and opens it where
// it is an object; it has no fields otherwise.
func (f *File) Document(known ...string) *jsondoc.Object {
	if !f.First.OK() {
		f.Look()
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

// ProbeDocument is Document for [Format.Detect].
func (f *File) ProbeDocument() *jsondoc.Object {
	if f.Kind(f.First) != '{' {
		return f.None(f.First)
	}
	return f.Probe(f.First, "the document")
}

// Answer opens the response of a recording. It has no fields where there is
// none, or one that is not in order.
func (f *File) Answer(known ...string) *jsondoc.Object {
	if f.response.OK() {
		if o := f.Probe(f.response, "the response", known...); o.Err() == nil {
			return o
		}
	}
	return f.None(f.response)
}

// Body finds the list that a body holds its messages in, which is the body
// itself or stands under one of the keys, or says why there is none. The body is
// an object, or one of no fields.
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

// BodyLog is the log of the list that a body holds its messages in, with what
// stands beside it. hint says what to do where there is none.
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

// NoList says that no list stands under any of the keys.
func NoList(keys ...string) string { return `no list under "` + strings.Join(keys, `" or "`) + `"` }
