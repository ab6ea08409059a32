package abi_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

func TestContentRoundTrip(t *testing.T) {
	for name, c := range map[string]struct {
		why     string
		in, out string
		text    string
		parts   int // -1 for a string
	}{
		"string":    {"a string stays a string", `"hi"`, `"hi"`, "hi", -1},
		"empty":     {"the empty string is one", `""`, `""`, "", -1},
		"null":      {"null reads as the empty string", `null`, `""`, "", -1},
		"html":      {"text for a model is not escaped for a page", `"a<b>&c"`, `"a<b>&c"`, "a<b>&c", -1},
		"escapes":   {"escapes are resolved", `"\u00e9\n\ud83d\ude00"`, "\"é\\n😀\"", "é\n😀", -1},
		"no parts":  {"an empty list is not an empty string", `[]`, `[]`, "", 0},
		"text part": {"a list stays a list", `[{"type":"text","text":"hi"}]`, `[{"type":"text","text":"hi"}]`, "hi", 1},
		"extra fields": {"fields of a text part that the ABI does not know are kept",
			`[{"text":"hi","cache_control":{"b":1,"a":2},"type":"text"}]`,
			`[{"text":"hi","cache_control":{"b":1,"a":2},"type":"text"}]`, "hi", 1},
		"image": {"a part of another type is kept as it was: key order, numbers, escapes",
			`[{"source":{"data":"\u00e9","n":1.50},"type":"image"}]`,
			`[{"source":{"data":"\u00e9","n":1.50},"type":"image"}]`, "", 1},
		"spaced": {"only white space between tokens goes", "[ { \"type\" : \"text\",\n\"text\" : \"a  b\" } ]",
			`[{"type":"text","text":"a  b"}]`, "a  b", 1},
		"mixed": {"texts are joined, others skipped",
			`[{"type":"text","text":"a"},{"type":"image","url":"u"},{"type":"text","text":"b"}]`,
			`[{"type":"text","text":"a"},{"type":"image","url":"u"},{"type":"text","text":"b"}]`, "a\nb", 3},
		"bare string": {"a string in a list is a text part", `["hi"]`, `[{"type":"text","text":"hi"}]`, "hi", 1},
		"text no text": {"a text that is not a string is carried and says nothing", `[{"type":"x","text":{"a":1}}]`,
			`[{"type":"x","text":{"a":1}}]`, "", 1},
		"no type": {"a part without a type is carried", `[{"foo":1}]`, `[{"foo":1}]`, "", 1},
		"case variants": {"only the exact keys count", `[{"type":"text","text":"a","TEXT":"b","Type":"c"}]`,
			`[{"type":"text","text":"a","TEXT":"b","Type":"c"}]`, "a", 1},
	} {
		t.Run(name, func(t *testing.T) {
			var got abi.Content
			if err := json.Unmarshal([]byte(c.in), &got); err != nil {
				t.Fatal(err)
			}
			if got.Text() != c.text {
				t.Errorf("text %q, want %q", got.Text(), c.text)
			}
			if got.IsParts() != (c.parts >= 0) || got.IsParts() && len(got.Parts()) != c.parts {
				t.Errorf("parts %v, want %d: %s", got.Parts(), c.parts, c.why)
			}
			out, err := got.MarshalJSON()
			if err != nil || string(out) != c.out {
				t.Errorf("written %s (%v), want %s: %s", out, err, c.out, c.why)
			}
			var back abi.Content
			if err := json.Unmarshal(out, &back); err != nil || !back.Equal(got) {
				t.Errorf("read again (%v), it is not the same", err)
			}
		})
	}
}

func TestContentRefuses(t *testing.T) {
	for doc, why := range map[string]string{
		`{"type":"text"}`: "an object is neither",
		`5`:               "nor is a number",
		`true`:            "nor a boolean",
		`[5]`:             "a part is an object",
		`[[]]`:            "not a list",
		`[{"type":5}]`:    "a type is a string",
	} {
		t.Run(doc, func(t *testing.T) {
			var c abi.Content
			if err := json.Unmarshal([]byte(doc), &c); err == nil {
				t.Errorf("%s is accepted: %s", doc, why)
			}
		})
	}
}

func TestContentEqual(t *testing.T) {
	parsed := func(doc string) abi.Content {
		var c abi.Content
		if err := json.Unmarshal([]byte(doc), &c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	image := json.RawMessage(`{"type":"image"}`)
	for name, c := range map[string]struct {
		a, b abi.Content
		want bool
	}{
		"same text":             {abi.Text("a"), abi.Text("a"), true},
		"other text":            {abi.Text("a"), abi.Text("b"), false},
		"string and list":       {abi.Text("a"), abi.Parts(abi.TextPart("a")), false},
		"empty string and list": {abi.Text(""), abi.Parts(), false},
		"made and read":         {abi.Parts(abi.TextPart("a")), parsed(`[{"type":"text","text":"a"}]`), true},
		"spacing":               {parsed(`[{"type":"image"}]`), parsed(`[ { "type": "image" } ]`), true},
		"escapes": {parsed(`[{"type":"image","a":"<é"}]`),
			parsed(`[{"type":"image","a":"\u003c\u00e9"}]`), true},
		"key order":          {parsed(`[{"type":"image","a":1}]`), parsed(`[{"a":1,"type":"image"}]`), true},
		"numbers as written": {parsed(`[{"type":"image","a":1}]`), parsed(`[{"type":"image","a":1.0}]`), false},
		"large numbers": {parsed(`[{"type":"image","a":9007199254740993}]`),
			parsed(`[{"type":"image","a":9007199254740992}]`), false},
		"broken": {abi.Parts(abi.RawPart("image", json.RawMessage("{"))),
			abi.Parts(abi.RawPart("image", image)), false},
		"raw made and read": {abi.Parts(abi.RawPart("image", image)), parsed(`[{"type":"image"}]`), true},
		"another field":     {parsed(`[{"type":"image"}]`), parsed(`[{"type":"image","a":1}]`), false},
		"other length":      {abi.Parts(abi.TextPart("a")), abi.Parts(abi.TextPart("a"), abi.TextPart("")), false},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.a.Equal(c.b); got != c.want || c.b.Equal(c.a) != c.want {
				t.Errorf("equal %v, want %v", got, c.want)
			}
		})
	}
}

func TestPartsAreCopied(t *testing.T) {
	list := []abi.Part{abi.TextPart("a")}
	c := abi.Parts(list...)
	list[0] = abi.TextPart("b")
	if c.Text() != "a" {
		t.Error("a content changes with the slice it was made of")
	}
	if !abi.Parts().IsParts() {
		t.Error("no parts is not a list")
	}
}

func TestToolCallArguments(t *testing.T) {
	for name, c := range map[string]struct{ why, in, want string }{
		"string":   {"text is text, JSON or not", `"{\"a\": 1}"`, `{"a": 1}`},
		"not json": {"models write broken arguments", `"{\"a\":"`, `{"a":`},
		"object": {"the object's text, compacted, its order and numbers kept", `{ "b": 1.0, "a": [ 1 ] }`,
			`{"b":1.0,"a":[1]}`},
		"null":         {"null is none", `null`, ``},
		"number":       {"any value has a text", `5`, `5`},
		"empty string": {"a tool without arguments", `""`, ``},
	} {
		t.Run(name, func(t *testing.T) {
			var call abi.ToolCall
			if err := json.Unmarshal([]byte(`{"id":"x","name":"n","arguments":`+c.in+`}`), &call); err != nil {
				t.Fatalf("%v", err)
			}
			if call.ID != "x" || call.Name != "n" || call.Arguments != c.want {
				t.Errorf("%+v, want arguments %q: %s", call, c.want, c.why)
			}
		})
	}
	call := abi.ToolCall{Arguments: "old"}
	if err := json.Unmarshal([]byte(`{"id":"x","name":"n"}`), &call); err != nil || call.Arguments != "" {
		t.Errorf("without arguments: %q, %v", call.Arguments, err)
	}
	if err := json.Unmarshal([]byte(`{"id":5}`), &call); err == nil {
		t.Error("an id that is a number is accepted")
	}
}

func TestMetaBool(t *testing.T) {
	if abi.Meta(nil).Bool(abi.MetaAlwaysKeep) {
		t.Error("no meta is no mark")
	}
	for raw, want := range map[string]bool{`true`: true, ` true `: true, `false`: false, `1`: false, `"true"`: false,
		`null`: false} {
		t.Run(raw, func(t *testing.T) {
			if got := (abi.Meta{"k": json.RawMessage(raw)}).Bool("k"); got != want {
				t.Errorf("%s is %v", raw, got)
			}
		})
	}
}

func TestRoleValid(t *testing.T) {
	for r, want := range map[abi.Role]bool{"system": true, "user": true, "assistant": true, "tool": true, "": false,
		"User": false, "developer": false} {
		t.Run(fmt.Sprintf("role %q", r), func(t *testing.T) {
			if r.Valid() != want {
				t.Errorf("role %q: valid %v", r, !want)
			}
		})
	}
	for _, h := range append([]abi.Hook{"", "pre-compact"}, abi.Hooks...) {
		if want := strings.Contains(string(h), "_"); h.Valid() != want {
			t.Errorf("hook %q: valid %v", h, !want)
		}
	}
}

// TestMessageRoundTripProperty: any message that can be built is written and
// read as the same.
func TestMessageRoundTripProperty(t *testing.T) {
	text := rapid.String()
	rapid.Check(t, func(t *rapid.T) {
		m := abi.Message{ID: text.Draw(t, "id"), Role: abi.RoleAssistant, Content: abi.Text(text.Draw(t, "text"))}
		if rapid.Bool().Draw(t, "parts") {
			var parts []abi.Part
			for _, s := range rapid.SliceOf(text).Draw(t, "parts") {
				parts = append(parts, abi.TextPart(s))
			}
			m.Content = abi.Parts(parts...)
		}
		for _, s := range rapid.SliceOf(text).Draw(t, "args") {
			m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: s, Name: s, Arguments: s})
		}
		doc, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		if err := strictjson.Check(doc, strictjson.Keys(m)); err != nil {
			t.Fatalf("what the package writes it refuses: %v: %s", err, doc)
		}
		var back abi.Message
		if err := json.Unmarshal(doc, &back); err != nil {
			t.Fatal(err)
		}
		if back.ID != m.ID || !back.Content.Equal(m.Content) || len(back.ToolCalls) != len(m.ToolCalls) {
			t.Fatalf("%s became %+v", doc, back)
		}
		for i, c := range back.ToolCalls {
			if c != m.ToolCalls[i] {
				t.Fatalf("call %+v became %+v", m.ToolCalls[i], c)
			}
		}
	})
}
