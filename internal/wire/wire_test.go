package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	gojson "github.com/goccy/go-json"
	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/internal/wire"
)

// read and written are all types that Unmarshal and Marshal know.
var (
	read = []any{abi.Input{}, abi.KVResponse{}, abi.TokensResponse{}, abi.MessagesResponse{}, abi.LogRequest{},
		abi.KVRequest{},
		abi.TokensRequest{}, abi.MessagesRequest{}, abi.CompactionRequest{}, abi.ModelRequest{}, abi.HTTPRequest{}}
	written = []any{abi.Output{}, abi.LogRequest{}, abi.KVRequest{}, abi.TokensRequest{}, abi.MessagesRequest{},
		abi.CompactionRequest{}}
)

// TestEveryFieldIsRead: a field added to the abi is not forgotten here.
func TestEveryFieldIsRead(t *testing.T) {
	for _, zero := range read {
		t.Run(fmt.Sprintf("%T", zero), func(t *testing.T) {
			v := reflect.New(reflect.TypeOf(zero))
			fill(v.Elem(), new(counting))
			compareRead(t, encode(t, json.Marshal, v.Interface()), zero)
		})
	}
	t.Run("abi.Output", func(t *testing.T) {
		var out abi.Output
		fill(reflect.ValueOf(&out).Elem(), new(counting))
		out.Messages[0].Ref = "" // the other is a reference, which has no more to it
		compareRead(t, encode(t, json.Marshal, out), abi.Output{})
	})
}

// TestEveryFieldIsWritten is the same for what guests write.
func TestEveryFieldIsWritten(t *testing.T) {
	for _, zero := range written {
		t.Run(fmt.Sprintf("%T", zero), func(t *testing.T) {
			v := reflect.New(reflect.TypeOf(zero))
			fill(v.Elem(), new(counting))
			if out, ok := v.Interface().(*abi.Output); ok {
				out.Messages[0].Ref = "" // the other is a reference, which has no more to it
			}
			compareWritten(t, v)
		})
	}
}

// fataler is a *testing.T or a *rapid.T.
type fataler interface {
	Helper()
	Fatal(...any)
	Fatalf(string, ...any)
}

func encode(t fataler, marshal func(any) ([]byte, error), v any) []byte {
	t.Helper()
	doc, err := marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// unmarshal reads as guests do, or as hosts read what guests wrote.
func unmarshal(doc []byte, v any) error {
	switch v.(type) {
	case *abi.Input, *abi.KVResponse, *abi.TokensResponse, *abi.MessagesResponse:
		return wire.Unmarshal(doc, v)
	}
	_, err := wire.UnmarshalWithin(doc, v, wire.Limits{})
	return err
}

// compareRead holds Unmarshal against encoding/json, which reads doc.
func compareRead(t fataler, doc []byte, zero any) {
	t.Helper()
	want, got := reflect.New(reflect.TypeOf(zero)), reflect.New(reflect.TypeOf(zero))
	if err := json.Unmarshal(doc, want.Interface()); err != nil {
		t.Fatal(err)
	}
	before := bytes.Clone(doc)
	if err := unmarshal(doc, got.Interface()); err != nil {
		t.Fatalf("%v\n%s", err, doc)
	}
	if !reflect.DeepEqual(got.Interface(), want.Interface()) {
		t.Fatalf("%s\nreads as  %+v,\nshould be %+v", doc, got.Elem(), want.Elem())
	}
	if !bytes.Equal(before, doc) {
		t.Fatal("the document was changed")
	}
}

// compareWritten holds Marshal against encoding/json: what both write reads as
// the same.
func compareWritten(t fataler, v reflect.Value) {
	t.Helper()
	arg := v.Interface()
	if _, ok := arg.(*abi.Output); !ok {
		arg = v.Elem().Interface()
	}
	var got, want any
	for _, c := range []struct {
		marshal func(any) ([]byte, error)
		into    *any
	}{{wire.Marshal, &got}, {json.Marshal, &want}} {
		if err := json.Unmarshal(encode(t, c.marshal, arg), c.into); err != nil {
			t.Fatal(err)
		}
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("wrote  %v\nshould %v", got, want)
	}
}

// drawing draws its values.
type drawing struct{ t *rapid.T }

func (d drawing) number() int  { return rapid.Int().Draw(d.t, "number") }
func (d drawing) truth() bool  { return rapid.Bool().Draw(d.t, "truth") }
func (d drawing) length() int  { return rapid.IntRange(0, 3).Draw(d.t, "length") }
func (d drawing) parts() bool  { return d.truth() }
func (d drawing) text() string { return texts.Draw(d.t, "text") }
func (d drawing) raw() json.RawMessage {
	return json.RawMessage(rapid.SampledFrom([]string{`null`, `true`, `-1.5e+7`, `"\u00e9\ud83d\ude00\n\""`, `[[],{}]`,
		`{"a":{"b":[1,2]},"A":0}`, `""`}).Draw(d.t, "raw"))
}

var texts = rapid.OneOf(rapid.String(), rapid.StringOfN(rapid.SampledFrom([]rune("ab\"\\/\n\r\t\b\f\x01é✓😀\u2028<&>")),
	0, 40, -1),
	rapid.Map(rapid.SliceOfN(rapid.Byte(), 0, 20), func(b []byte) string { return string(b) }))

// TestReadsAsEncodingJSON: whatever a host writes, with either encoder, reads
// the same, with and without white space.
func TestReadsAsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		zero := rapid.SampledFrom(read).Draw(t, "type")
		v := reflect.New(reflect.TypeOf(zero))
		fill(v.Elem(), drawing{t})
		host := encode(t, func(v any) ([]byte, error) {
			return gojson.MarshalWithOption(v, gojson.DisableHTMLEscape())
		}, v.Interface())
		compareRead(t, host, zero)
		compareRead(t, encode(t, json.Marshal, v.Interface()), zero)
		var spaced bytes.Buffer
		if err := json.Indent(&spaced, host, "\r", "\t"); err != nil {
			t.Fatal(err)
		}
		compareRead(t, spaced.Bytes(), zero)
	})
}

func TestWritesAsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := reflect.New(reflect.TypeOf(rapid.SampledFrom(written).Draw(t, "type")))
		fill(v.Elem(), drawing{t})
		compareWritten(t, v)
	})
}

func TestResponse(t *testing.T) {
	for _, c := range []struct {
		why, doc string
		value    string
		failed   *abi.Error
		bad      bool
	}{
		{"a result", `{"result":{"found":true,"value":"x\ty"}}`, "x\ty", nil, false},
		{"no result, as kv.set answers", `{}`, "", nil, false},
		{"a result of nothing", `{"result":null}`, "", nil, false},
		{"an error", `{"error":{"code":"quota","message":"full","hint":"delete"}}`, "",
			&abi.Error{Code: abi.CodeQuota, Message: "full", Hint: "delete"}, false},
		{"a result of another type", `{"result":[]}`, "", nil, true},
		{"half a document", `{"result":{"found":true`, "", nil, true},
		{"more than one", `{}{}`, "", nil, true},
	} {
		t.Run(c.why, func(t *testing.T) {
			var kv abi.KVResponse
			failed, err := wire.Response([]byte(c.doc), &kv)
			if (err != nil) != c.bad {
				t.Fatal(err)
			}
			if !c.bad && (kv.Value != c.value || !reflect.DeepEqual(failed, c.failed)) {
				t.Errorf("%+v, %+v", kv, failed)
			}
			if _, err := wire.Response([]byte(c.doc), nil); c.bad != (err != nil) && c.doc != `{"result":[]}` {
				t.Errorf("passing the result over: %v", err)
			}
		})
	}
}

// TestRefused: what encoding/json takes and this package does not, as the
// package comment says.
func TestRefused(t *testing.T) {
	deep := bytes.Repeat([]byte("["), strictjson.MaxDepth+1)
	deep = append(deep, bytes.Repeat([]byte("]"), strictjson.MaxDepth+1)...)
	for _, c := range []struct{ why, doc string }{
		{"a field twice", `{"call":"a","call":"b"}`},
		{"a field twice, once with escapes", `{"call":"a","c\u0061ll":"b"}`},
		{"a field in another case", `{"messages":[{"ID":"evil"}]}`},
		{"a field in another alphabet's case", `{"ſession":{}}`},
		{"raw values nested too deep", `{"messages":[{"raw":` + string(deep) + `}]}`},
	} {
		t.Run(c.why, func(t *testing.T) {
			if err := json.Unmarshal([]byte(c.doc), new(abi.Input)); err != nil {
				t.Fatalf("encoding/json refuses it too: %v", err)
			}
			if err := wire.Unmarshal([]byte(c.doc), new(abi.Input)); err == nil {
				t.Errorf("%s was read", c.doc)
			}
		})
	}
	if _, err := wire.Marshal(&abi.Output{
		Messages: []abi.OutputMessage{{Message: abi.Message{Raw: json.RawMessage("{")}}}}); err == nil {
		t.Error("a raw value that is no JSON was written")
	}
}
