package jsondoc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript/internal/jsondoc"
)

// A value is replaced, and not a byte beside it changes.
func Example() {
	src := jsondoc.New("log.json", []byte("{ \"id\" : 7,\n  \"text\": \"long\" }\n"))
	if err := src.Check(src.Whole()); err != nil {
		fmt.Println(err)
		return
	}
	o := src.Open(src.Whole(), "the document", "id", "text")
	fmt.Println(o.Scalar("id"), o.Str("text"), o.Err())
	edits := []jsondoc.Edit{o.Place("text").Put(jsondoc.Quote("short")), o.Place("seen").Put([]byte("true"))}
	fmt.Printf("%s", src.Apply(nil, jsondoc.Span{End: len(src.Data)}, edits))
	// Output:
	// 7 long <nil>
	// { "id" : 7,
	//   "text": "short" ,"seen":true}
}

// open opens a document that is one object.
func open(t *testing.T, doc string, known ...string) *jsondoc.Object {
	t.Helper()
	src := jsondoc.New("f", []byte(doc))
	if err := src.Check(src.Whole()); err != nil {
		t.Fatal(err)
	}
	return src.Open(src.Whole(), "the document", known...)
}

func TestFields(t *testing.T) {
	o := open(t, `{"s":"a\u00e9\n","n":-1.50,"t":true,"z":null,"l":[1, {"x":[2]} ,"]"],"o":{"k":"v"},"\u006b":1}`)
	if s, n := o.Str("s"), o.Scalar("n"); s != "aé\n" || n != "-1.50" {
		t.Errorf("strings: %q %q", s, n)
	}
	if !o.Flag("t") || o.Flag("gone") || o.Str("z") != "" || o.Value("z").OK() || !o.Raw("z").OK() || !o.Has("k") {
		t.Error("flags, null or an escaped key are read wrongly")
	}
	var els []string
	for _, at := range o.List("l") {
		els = append(els, string(o.Bytes(at)))
	}
	if got := strings.Join(els, "|"); got != `1|{"x":[2]}|"]"` {
		t.Errorf("elements: %s", got)
	}
	if o.Sub("o", "k").Str("k") != "v" || o.Sub("gone").Str("k") != "" || o.Err() != nil {
		t.Errorf("an object inside: %v", o.Err())
	}
}

func TestFaults(t *testing.T) {
	for _, c := range []struct {
		name, doc string
		read      func(o *jsondoc.Object)
		want      string
	}{
		{"a string that is none", "{\n \"a\": 1}", func(o *jsondoc.Object) { o.Str("a") },
			`line 2, column 7: "a" is not a string`},
		{"a list that is none", `{"a":{}}`, func(o *jsondoc.Object) { o.List("a") }, `line 1, column 6: "a" is not a list`},
		{"a flag that is none", `{"a":"é","b":0}`, func(o *jsondoc.Object) { o.Flag("b") },
			`line 1, column 14: "b" is not a boolean`},
		{"an object that is none", `{"a":[]}`, func(o *jsondoc.Object) { o.Sub("a") },
			`line 1, column 6: "a" is not an object`},
		{"a key in another case", `{"known":1,"KNOWN":2}`, func(*jsondoc.Object) {}, `line 1, column 20: key "KNOWN"`},
		{"the first of two", `{"a":{"b":1},"c":1}`, func(o *jsondoc.Object) { o.Sub("a").Str("b"); o.Str("c") },
			`line 1, column 11: "b" is not a string`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := open(t, c.doc, "known")
			c.read(o)
			if err := o.Err(); abi.CodeOf(err) != abi.CodeBadInput || !strings.HasSuffix(abi.AsError(err).Message, c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			if o.Raw("a").OK() {
				t.Error("a field is still read after the fault")
			}
		})
	}
}

func TestRemoval(t *testing.T) {
	for _, c := range []struct{ name, doc, want string }{
		{"the first", `{ "x" : 1 , "y":2}`, `{ "y":2}`},
		{"the last", `{"y":2 , "x" : 1 }`, `{"y":2 }`},
		{"the only one", `{ "x":1 }`, `{  }`},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := open(t, c.doc)
			if got := string(o.Apply(nil, o.At, []jsondoc.Edit{{At: o.Removal("x")}})); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
		})
	}
}

// Records go and come, and what stands around and between the others stays.
func TestSequence(t *testing.T) {
	for _, c := range []struct {
		name, in string
		write    []int // records; -1 is {"n":[1]}
		want     string
	}{
		{"all lines", "\ufeff1\r\n\r\n2\r\n3", []int{0, 1, 2}, "\ufeff1\r\n\r\n2\r\n3"},
		{"lines with a new one", "1\r\n\r\n2\r\n3", []int{0, -1, 2}, "1\r\n{\"n\":[1]}\r\n3"},
		{"neighbours", "\n1\n2\n \n3\n\n", []int{1, 2}, "\n2\n \n3\n\n"},
		{"a list of one", "[ 1 ]", []int{0, -1}, `[ 1, {"n":[1]} ]`},
		{"an empty list", "[ ]", []int{-1}, `[{"n":[1]}]`},
		{"none of a list", "[ 1, 2 ]", nil, "[]"},
		{"a pretty list", "[\n  {\n    \"a\": 1\n  },\n  {}\n]", []int{-1, 1},
			"[\n  {\n    \"n\": [\n      1\n    ]\n  },\n  {}\n]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := jsondoc.New("f", []byte(c.in))
			q := jsondoc.LinesOf(src)
			if c.in[0] == '[' {
				q = jsondoc.ListOf(src, src.Whole(), src.Whole())
			}
			var items []jsondoc.Item
			for _, rec := range c.write {
				items = append(items, jsondoc.Item{Rec: rec})
				if rec < 0 {
					items[len(items)-1].Text = q.Style(jsondoc.Obj("n", [][]byte{[]byte("1")}))
				}
			}
			if got := string(q.File(items, nil)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

func TestObj(t *testing.T) {
	got := jsondoc.Obj("s", "a<\"\xff", "raw", []byte("1.0"), "n", 7, "b", false, "none", nil,
		"empty", jsondoc.Maybe(""), "if", jsondoc.If(true, [][]byte{jsondoc.Null}), "null", jsondoc.OrNull(""))
	if want := `{"s":"a<\"` + "\uFFFD" + `","raw":1.0,"n":7,"b":false,"if":[null],"null":null}`; string(got) != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// FuzzApply holds that a document which passes the check is walked without a
// fault, that a list of all elements is the list, and that replaced values
// leave a document that passes.
func FuzzApply(f *testing.F) {
	for _, seed := range []string{`{"a":[1,{"b":"\"]"}],"c":null}`, "[]", "[ {} , [ [] ],\"x\"]",
		" {\"\\u0061\" : -1e5}\n", "7"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		src := jsondoc.New("f", data)
		whole := src.Whole()
		if src.Check(whole) != nil {
			return
		}
		switch src.Kind(whole) {
		case '[':
			if e := src.KeepElements(whole, nil, func(int) bool { return true }); !bytes.Equal(e.Text, src.Bytes(e.At)) {
				t.Fatalf("a list became %s", e.Text)
			}
		case '{':
			o := src.Open(whole, "the document")
			var edits []jsondoc.Edit
			for _, field := range o.Fields {
				edits = append(edits, o.Place(string(field.Key)).Put(jsondoc.Quote("é\"")))
			}
			if out := src.Apply(nil, whole, edits); !json.Valid(out) || src.Check(whole) != nil {
				t.Fatalf("wrote %s", out)
			}
		}
	})
}
