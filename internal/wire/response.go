package wire

import (
	"encoding/json"
	"fmt"

	"github.com/kagewasm/kagewasm/abi"
)

// Unmarshal reads doc into v, a pointer to a zero abi.Input or to the zero
// response of a host call. Any other type panics. Errors are of type [*strictjson.Error]; v is then of no use.
func Unmarshal(doc []byte, v any) error {
	d := decoder{doc: doc}
	d.value(v)
	return d.end()
}

// Response reads an [abi.HostResponse] and what is in it: the result into v,
// as [Unmarshal] does (nil: it is passed over), or the host's own error.
func Response(doc []byte, v any) (failed *abi.Error, err error) {
	d := decoder{doc: doc}
	r := response{result: v}
	object(&d, &r, responseFields)
	return r.failed, d.end()
}

type response struct {
	result any
	failed *abi.Error
}

var responseFields = []field[*response]{
	{"result", func(d *decoder, r *response) { d.value(r.result) }},
	{"error", func(d *decoder, r *response) { failure(d, &r.failed) }},
}

// value reads into what v points to.
func (d *decoder) value(v any) {
	switch v := v.(type) {
	case nil:
		d.raw()
	case *abi.Input:
		object(d, v, inputFields)
	case *abi.KVResponse:
		object(d, v, kvFields)
	case *abi.TokensResponse:
		object(d, v, tokensFields)
	case *abi.MessagesResponse:
		object(d, v, messagesFields)
	case *abi.HTTPResponse, *abi.ModelResponse, *abi.SearchResponse: // few, and waiting for them takes longer
		if err := json.Unmarshal(d.raw(), v); err != nil {
			d.fail(err.Error())
		}
	default:
		panic(fmt.Sprintf("wire: %T is not read here", v))
	}
}

var kvFields = []field[*abi.KVResponse]{
	{"found", func(d *decoder, r *abi.KVResponse) { r.Found = d.bool() }},
	{"value", func(d *decoder, r *abi.KVResponse) { r.Value = d.text() }},
	{"keys", func(d *decoder, r *abi.KVResponse) { r.Keys = texts(d) }},
}

var tokensFields = []field[*abi.TokensResponse]{
	{"counts", func(d *decoder, r *abi.TokensResponse) {
		r.Counts = list(d, func(d *decoder, n *int) { *n = d.int() })
	}},
}

var messagesFields = []field[*abi.MessagesResponse]{
	{"messages", func(d *decoder, r *abi.MessagesResponse) { r.Messages = list(d, message) }},
}
