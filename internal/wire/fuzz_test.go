package wire_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/internal/wire"
)

// FuzzUnmarshal: no bytes make it panic; what it reads encoding/json reads the
// same; and what it alone refuses is no document of the abi.
func FuzzUnmarshal(f *testing.F) {
	sample, err := os.ReadFile(filepath.Join(shared.Root(f), "testdata", "hook-input.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(sample)
	for _, doc := range []string{
		`null`, ` {"abi":-0,"trigger":{"fraction":1e-3,"tokens":12345678901}} `, `{"abi":1.0}`, `{"abi":01}`,
		`{"messages":[null,{"content":["bare",null,{"type":"image","text":7,"type":"text",` +
			`"text":"\u00e9\ud83d\ude00\ud83d"}]}]}`,
		`{"messages":[{"tool_calls":[{"arguments":{"a" : [1, 2]}},{"arguments":null},null],"meta":{"a":1,"a":2},` +
			`"raw":null}]}`,
		`{"config":{},"record":{"failures":[null,{"code":"trap"}],"superseded":[],"edited":[null]},` +
			`"session":{"context_window":null}}`,
		`{"later":[{"ID":1}],"call":"\xff\u005c\/"}`, "{\"call\":\"long enough, \xff, and then an escape\\n\"}",
		`{"call":"a"`, `{"call":"a",}`, "{\"call\":\"\x1f\"}",
	} {
		f.Add([]byte(doc))
	}
	known := strictjson.Keys(abi.Input{})
	f.Fuzz(func(t *testing.T, doc []byte) {
		var got, want abi.Input
		err, jsonErr := wire.Unmarshal(doc, &got), json.Unmarshal(doc, &want)
		switch {
		case err == nil && jsonErr != nil:
			t.Fatalf("read what encoding/json refuses: %v", jsonErr)
		case err == nil && !reflect.DeepEqual(got, want):
			t.Fatalf("read as %+v, by encoding/json as %+v", got, want)
		case err != nil && jsonErr == nil && strictjson.Check(doc, known) == nil:
			t.Fatalf("refused a document of the abi: %v", err)
		}
	})
}

// FuzzText: any text survives being written.
func FuzzText(f *testing.F) {
	for _, s := range []string{"", "plain, and long enough", "a\"\\\n\t\r\x00\x1f", "\xff\xfe", "é✓😀\u2028"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		doc, err := wire.Marshal(abi.KVRequest{Key: s, Value: s})
		if err != nil {
			t.Fatal(err)
		}
		var got abi.KVRequest
		if err := json.Unmarshal(doc, &got); err != nil {
			t.Fatal(err)
		}
		if want := string([]rune(s)); got.Key != want || got.Value != want {
			t.Fatalf("%q came back as %q", s, got.Key)
		}
	})
}
