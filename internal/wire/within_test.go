package wire_test

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
	"github.com/kagewasm/kagewasm/internal/wire"
)

var errEnough = errors.New("enough")

// TestWithin: what is read within limits ends at the limit, before anything is built,
// with the limit's own error.
func TestWithin(t *testing.T) {
	var taken int64
	take := func(most int64) wire.Limits {
		return wire.Limits{Limits: strictjson.Limits{Take: func(n int64) error {
			if taken += n; taken > most {
				return errEnough
			}
			return nil
		}}}
	}
	looks := 0
	look := wire.Limits{Limits: strictjson.Limits{Look: func() error {
		if looks++; looks > 3 {
			return errEnough
		}
		return nil
	}}}
	refs := `{"messages":[` + strings.Repeat(`{"ref":"a"},`, 100_000) + `{"ref":"b"}]}`
	for _, c := range []struct {
		why, doc string
		limits   wire.Limits
		says     string // "" where it is read
	}{
		{"no limits", refs, wire.Limits{}, ""},
		{"as many as may be", refs, wire.Limits{Items: 100_001}, ""},
		{"one more", refs, wire.Limits{Items: 100_000}, "100001"},
		{"of all lists together", `{"superseded":["a","b"],"always_keep":["c"]}`, wire.Limits{Items: 2}, "3 messages"},
		{"facts are no names", `{"retain":["a","b","c"]}`, wire.Limits{Items: 2}, ""},
		{"memory for a list", refs, take(1 << 20), "enough"},
		{"memory for entries", `{"messages":[{"ref":"a","meta":{"a":1,"b":2}}]}`, take(300), "enough"},
		{"memory for arguments", `{"messages":[{"ref":"a","tool_calls":[{"arguments":[` + strings.Repeat("1,", 500) +
			`1]}]}]}`,
			take(1000), "enough"},
		{"memory for escapes", `{"summary":"` + strings.Repeat(`\n`, 500) + `"}`, take(500), "enough"},
		{"time", refs, look, "enough"},
		{"a type that is wrong", `{"messages":[{"ref":"a"},{"content":7}]}`, wire.Limits{},
			"messages[1].content: a number, where a text or a list of parts belongs"},
		{"a type that is wrong at the top", `{"superseded":"a"}`, wire.Limits{}, "superseded: a text, where a list belongs"},
		{"a type that is wrong in a list", `{"retain":["a",{}]}`, wire.Limits{},
			"retain[1]: an object, where a text belongs"},
		{"nobody's message", `{"messages":[{"content":"a"}]}`, wire.Limits{},
			"messages[0]: neither a ref, nor an id, nor a role"},
	} {
		t.Run(c.why, func(t *testing.T) {
			taken, looks = 0, 0
			_, err := wire.UnmarshalWithin([]byte(c.doc), new(abi.Output), c.limits)
			switch {
			case c.says == "" && err != nil:
				t.Error(err)
			case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
				t.Errorf("%v, want %q in it", err, c.says)
			case c.says == "enough" && !errors.Is(err, errEnough):
				t.Errorf("%v is not the limit's own", err)
			}
		})
	}
}

// TestUnknownFields: those of the document itself are told, ten of them.
func TestUnknownFields(t *testing.T) {
	for _, c := range []struct {
		why, doc string
		unknown  []string
	}{
		{"none", `{"inject":"a","messages":[{"ref":"a","colour":1}]}`, nil},
		{"in their order", `{"b":1,"inject":"a","\u0061":{"inject":"x"}}`, []string{"b", "a"}},
		{"ten of many", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1}`,
			strings.Split("abcdefghij", "")},
	} {
		t.Run(c.why, func(t *testing.T) {
			var out abi.Output
			if unknown, err := wire.UnmarshalWithin([]byte(c.doc), &out, wire.Limits{}); err != nil ||
				!reflect.DeepEqual(unknown, c.unknown) {
				t.Errorf("%q, %v, want %q", unknown, err, c.unknown)
			}
		})
	}
}

// TestRequestsAreRead: what guests ask for is read as encoding/json reads it.
func TestRequestsAreRead(t *testing.T) {
	for _, doc := range []struct {
		json string
		into any
	}{
		{`{"url":"https://a.b/","headers":{"A":"b","c":"\n"},"body_base64":"AAEC","timeout_ms":3,"method":"PUT"}`,
			abi.HTTPRequest{}},
		{`{"url":"x","body":"b","headers":null,"body_base64":null}`, abi.HTTPRequest{}},
		{`{"model":"m","system":"s","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"}],` +
			`"max_tokens":7}`,
			abi.ModelRequest{}},
		{`{"prompt":"p"}`, abi.ModelRequest{}},
	} {
		t.Run(doc.json, func(t *testing.T) { compareRead(t, []byte(doc.json), doc.into) })
	}
	var r abi.HTTPRequest
	if err := unmarshal([]byte(`{"body_base64":"?"}`), &r); err == nil ||
		json.Unmarshal([]byte(`{"body_base64":"?"}`), &r) == nil {
		t.Error("bytes that are no base64 were read")
	}
}
