package wire

import (
	"encoding/base64"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// What guests write, and hosts read: see output.go for the other side.

// written reads into what v points to. It is apart from what guests read, so that no
// guest has to carry it.
func written(d *decoder, v any) {
	switch v := v.(type) {
	case *abi.Output:
		object(d, v, outputFields)
	case *abi.LogRequest:
		object(d, v, logFields)
	case *abi.KVRequest:
		object(d, v, kvRequestFields)
	case *abi.TokensRequest:
		object(d, v, tokensRequestFields)
	case *abi.MessagesRequest:
		object(d, v, messagesRequestFields)
	case *abi.SearchRequest:
		object(d, v, searchFields)
	case *abi.CompactionRequest:
		object(d, v, compactionFields)
	case *abi.HTTPRequest:
		object(d, v, httpFields)
	case *abi.ModelRequest:
		object(d, v, modelFields)
	default:
		panic(fmt.Sprintf("wire: %T is not read here", v))
	}
}

var searchFields = []field[*abi.SearchRequest]{
	{"query", func(d *decoder, r *abi.SearchRequest) { r.Query = d.text() }},
	{"limit", func(d *decoder, r *abi.SearchRequest) { r.Limit = d.int() }},
}

var outputFields = []field[*abi.Output]{
	{"retain", func(d *decoder, o *abi.Output) { o.Retain = texts(d) }},
	{"unstored", func(d *decoder, o *abi.Output) { o.Unstored = d.text() }},
	{"inject", func(d *decoder, o *abi.Output) { o.Inject = d.text() }},
	{"request_compaction", func(d *decoder, o *abi.Output) { o.RequestCompaction = pointer(d, compactionFields) }},
	{"always_keep", func(d *decoder, o *abi.Output) { o.AlwaysKeep = names(d) }},
	{"release", func(d *decoder, o *abi.Output) { o.Release = names(d) }},
	{"messages", func(d *decoder, o *abi.Output) { o.Messages = outputMessages(d) }},
	{"superseded", func(d *decoder, o *abi.Output) { o.Superseded = names(d) }},
	{"summary", func(d *decoder, o *abi.Output) { o.Summary = d.text() }},
	{"covers", func(d *decoder, o *abi.Output) { o.Covers = abi.Covers(d.text()) }},
	{"cancel", func(d *decoder, o *abi.Output) { o.Cancel = d.bool() }},
	{"reason", func(d *decoder, o *abi.Output) { o.Reason = d.text() }},
}

// outputMessageFields makes the table of a message's fields. Made where it is needed,
// no guest has to carry it.
func outputMessageFields() []field[*abi.OutputMessage] {
	return append([]field[*abi.OutputMessage]{{"ref", func(d *decoder, m *abi.OutputMessage) { m.Ref = d.text() }}},
		messageFields(func(m *abi.OutputMessage) *abi.Message { return &m.Message })...)
}

// outputMessages reads a compactor's list. An entry that is nobody's is an error.
func outputMessages(d *decoder) []abi.OutputMessage {
	fields := outputMessageFields()
	return counted(d, len(`{"id":""}`), func(d *decoder, m *abi.OutputMessage) {
		start := d.pos
		object(d, m, fields)
		if d.err == nil && m.Ref == "" && m.ID == "" && m.Role == "" {
			d.pos = start
			d.fail("neither a ref, nor an id, nor a role")
		}
	})
}

var compactionFields = []field[*abi.CompactionRequest]{
	{"instructions", func(d *decoder, r *abi.CompactionRequest) { r.Instructions = d.text() }},
}

var logFields = []field[*abi.LogRequest]{
	{"level", func(d *decoder, r *abi.LogRequest) { r.Level = abi.LogLevel(d.text()) }},
	{"message", func(d *decoder, r *abi.LogRequest) { r.Message = d.text() }},
}

var kvRequestFields = []field[*abi.KVRequest]{
	{"key", func(d *decoder, r *abi.KVRequest) { r.Key = d.text() }},
	{"value", func(d *decoder, r *abi.KVRequest) { r.Value = d.text() }},
	{"expect", func(d *decoder, r *abi.KVRequest) {
		if !d.null() {
			r.Expect = new(d.text())
		}
	}},
}

var tokensRequestFields = []field[*abi.TokensRequest]{
	{"texts", func(d *decoder, r *abi.TokensRequest) { r.Texts = names(d) }},
}

var messagesRequestFields = []field[*abi.MessagesRequest]{
	{"ids", func(d *decoder, r *abi.MessagesRequest) { r.IDs = names(d) }},
}

var modelFields = []field[*abi.ModelRequest]{
	{"model", func(d *decoder, r *abi.ModelRequest) { r.Model = d.text() }},
	{"system", func(d *decoder, r *abi.ModelRequest) { r.System = d.text() }},
	{"prompt", func(d *decoder, r *abi.ModelRequest) { r.Prompt = d.text() }},
	{"messages", func(d *decoder, r *abi.ModelRequest) {
		r.Messages = counted(d, 0, func(d *decoder, m *abi.ModelMessage) { object(d, m, modelMessageFields) })
	}},
	{"max_tokens", func(d *decoder, r *abi.ModelRequest) { r.MaxTokens = d.int() }},
}

var modelMessageFields = []field[*abi.ModelMessage]{
	{"role", func(d *decoder, m *abi.ModelMessage) { m.Role = abi.Role(d.text()) }},
	{"content", func(d *decoder, m *abi.ModelMessage) { m.Content = d.text() }},
}

var httpFields = []field[*abi.HTTPRequest]{
	{"method", func(d *decoder, r *abi.HTTPRequest) { r.Method = d.text() }},
	{"url", func(d *decoder, r *abi.HTTPRequest) { r.URL = d.text() }},
	{"headers", func(d *decoder, r *abi.HTTPRequest) { r.Headers = textMap(d) }},
	{"body", func(d *decoder, r *abi.HTTPRequest) { r.Body = d.text() }},
	{"body_base64", func(d *decoder, r *abi.HTTPRequest) { r.BodyBase64 = data(d) }},
	{"timeout_ms", func(d *decoder, r *abi.HTTPRequest) { r.TimeoutMS = d.int() }},
}

// names reads a list of ids or texts.
func names(d *decoder) []string {
	return counted(d, 0, func(d *decoder, s *string) { *s = d.text() })
}

// textMap reads an object of texts; null is nil.
func textMap(d *decoder) map[string]string {
	if !d.open('{') {
		return nil
	}
	m := make(map[string]string)
	for n := 0; d.next(n, '}'); n++ {
		d.take(entryBytes)
		key := d.key()
		m[key] = d.text()
	}
	return m
}

// data reads bytes that are written in base64; null is nil.
func data(d *decoder) []byte {
	if d.null() {
		return nil
	}
	text := d.text()
	d.take(int64(len(text)))
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		d.fail(err.Error())
	}
	return b
}
