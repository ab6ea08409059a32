package strictjson_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

var knownKeys = map[string]bool{"id": true, "kind": true, "messages": true, "superseded": true, "meta": true,
	"MixedCase": true}

// hostile are documents that decoders read in more than one way, or that cost
// more than they weigh.
var hostile = map[string]string{
	"a key twice":                       `{"id":"a","id":"b"}`,
	"a key twice, in another case":      `{"id":"a","ID":"EVIL"}`,
	"a known key in another case":       `{"ID":"EVIL"}`,
	"a known key with a Kelvin sign":    `{"` + "\u212a" + `ind":"EVIL"}`,
	"a known key with a long s":         `{"` + "\u017f" + `uperseded":[]}`,
	"the Kelvin sign escaped":           `{"\u212aind":"EVIL"}`,
	"the same key escaped":              `{"id":"a","\u0069d":"EVIL"}`,
	"the other case escaped":            `{"\u0049\u0044":"EVIL"}`,
	"a known key that is not lower":     `{"mixedcase":1}`,
	"unknown keys that differ in case":  `{"foo":1,"Foo":2}`,
	"keys that fold beyond ASCII":       `{"straße":1,"STRAßE":2}`,
	"sigmas":                            `{"σ":1,"ς":2}`,
	"a duplicate inside a list":         `{"messages":[{"a":1},{"a":1,"a":2}]}`,
	"a duplicate after a nested object": `{"a":{"b":1},"c":{"d":[{"e":1}]},"a":2}`,
	"a duplicate below an opaque field": `{"meta":{"a":{"b":1,"b":2}}}`,
	"a duplicate below it, escaped":     `{"meta":{"a/b":1,"a\/b":2}}`,
	"two broken surrogates":             `{"\ud800":1,"\ud801":2}`,
	"a pair and its rune":               `{"\ud83d\ude00":1,"😀":2}`,
	"an empty key twice":                `{"":1,"":2}`,
	"the 17th key again": `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,` +
		`"m":1,"n":1,"o":1,"p":1,"q":1,"Q":1}`,
	"the first of 18 again": `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1,"k":1,"l":1,` +
		`"m":1,"n":1,"o":1,"p":1,"q":1,"A":1}`,
	"invalid utf-8 in a string":     "{\"id\":\"\xff\"}",
	"invalid utf-8 in a key":        "{\"\xc3\":1}",
	"an encoded surrogate":          "{\"id\":\"\xed\xa0\x80\"}",
	"an overlong slash":             "{\"id\":\"\xc0\xaf\"}",
	"a byte order mark":             "\ufeff{}",
	"65 lists":                      strings.Repeat("[", 65) + strings.Repeat("]", 65),
	"65 objects":                    strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65),
	"65 deep below an opaque field": `{"meta":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`,
	"a million open lists":          strings.Repeat("[", 1_000_000),
	"a number of 65 digits":         strings.Repeat("9", 65),
	"a number of a million digits":  `{"n":` + strings.Repeat("9", 1_000_000) + `}`,
	"a long key twice":              `{"` + strings.Repeat("k", 5000) + `":1,"` + strings.Repeat("k", 5000) + `":1}`,
	"trailing data":                 `{} {}`,
	"a trailing brace":              `{}}`,
	"a trailing zero byte":          "{}\x00",
	"nothing":                       ``,
	"white space":                   " \n",
	"a form feed":                   "\f{}",
	"a non-breaking space":          "{\u00a0}",
	"a comment":                     `{/**/}`,
	"an open object":                `{"a":1`,
	"an open list":                  `[1`,
	"an open string":                `"a`,
	"an open escape":                `"a\`,
	"a short \\u escape":            `"\u12"`,
	"a \\u escape that is none":     `"\u12g4"`,
	"an escape that is none":        `"\x"`,
	"an escaped byte":               "\"\\\xc3\xa9\"",
	"a raw newline in a string":     "\"a\nb\"",
	"a raw zero in a string":        "\"a\x00b\"",
	"a trailing comma in a list":    `[1,]`,
	"a trailing comma in an object": `{"a":1,}`,
	"a leading comma":               `[,1]`,
	"no comma":                      `[1 2]`,
	"no colon":                      `{"a" 1}`,
	"no value":                      `{"a":}`,
	"a key that is no string":       `{1:1}`,
	"a key without quotes":          `{a:1}`,
	"single quotes":                 `{'a':1}`,
	"half a literal":                `tru`,
	"a long literal":                `truee`,
	"a literal in another case":     `True`,
	"not a number":                  `NaN`,
	"infinity":                      `-Infinity`,
	"a lone sign":                   `-`,
	"a plus":                        `+1`,
	"a leading zero":                `01`,
	"a leading point":               `.5`,
	"a trailing point":              `5.`,
	"an empty exponent":             `1e`,
	"a signed empty exponent":       `1e+`,
	"two points":                    `1.2.3`,
	"a hex number":                  `0x1`,
}

// friendly are documents near the hostile ones that have to pass.
var friendly = map[string]string{
	"64 lists":                      strings.Repeat("[", 64) + strings.Repeat("]", 64),
	"64 lists around a value":       strings.Repeat("[", 64) + "1" + strings.Repeat("]", 64),
	"64 objects":                    strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64),
	"a number of 64 digits":         strings.Repeat("9", 64),
	"numbers":                       `[0,-0,1,-1,0.5,1e5,1E+5,1.25e-7,10]`,
	"a small number":                `1e-999`,
	"strings":                       `["","\"\\\/\b\f\n\r\t\u00e9","😀","\ud83d\ude00","\ud800","\u007f"]`,
	"white space":                   " \t\r\n{ \"a\" : [ 1 , 2 ] , \"b\" : { } , \"c\" : [ ] }\n",
	"literals":                      `[true,false,null]`,
	"a key again, elsewhere":        `{"a":{"a":{"a":1}},"b":[{"a":1},{"a":1}]}`,
	"case variants in opaque data":  `{"meta":{"ID":1,"id":2,"Kind":3}}`,
	"the same deeper in it":         `{"meta":[{"a":{"Id":1,"id":2,"ID":3}}]}`,
	"unknown keys of any case":      `{"FOO":1,"Bär":2,"\u0130d":3}`,
	"a known key that is not lower": `{"MixedCase":1}`,
	"a dotless i is another letter": `{"ıd":1,"id":2}`,
	"40 keys":                       manyKeysObject(40, "k%d"),
}

func manyKeysObject(n int, format string) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `,"`+format+`":`+"1", i)
	}
	return "{" + b.String()[1:] + "}"
}

func TestCheckJSONHostile(t *testing.T) {
	for why, doc := range hostile {
		if err := strictjson.Check([]byte(doc), knownKeys); err == nil {
			t.Errorf("accepted: %s: %.60q", why, doc)
		} else if len(err.Error()) > 400 {
			t.Errorf("%s: a message of %d bytes", why, len(err.Error()))
		}
	}
}

func TestCheckJSONFriendly(t *testing.T) {
	for why, doc := range friendly {
		if err := strictjson.Check([]byte(doc), knownKeys); err != nil {
			t.Errorf("refused: %s: %v: %.60q", why, err, doc)
		}
	}
}

// referenceCheck decides the same by other means: json.Valid for the grammar,
// a token reader and pairwise comparison for the rest.
func referenceCheck(doc []byte, known map[string]bool, free bool) error {
	if !json.Valid(doc) || !bytes.Equal(doc, bytes.ToValidUTF8(doc, nil)) {
		return errors.New("not valid")
	}
	dec := json.NewDecoder(bytes.NewReader(doc))
	dec.UseNumber()
	return referenceValue(dec, known, 0, free)
}

func referenceValue(dec *json.Decoder, known map[string]bool, depth int, free bool) error {
	tok, err := dec.Token()
	if err != nil {
		return err
	}
	if n, ok := tok.(json.Number); ok && len(n) > strictjson.MaxNumber {
		return errors.New("long number")
	}
	delim, ok := tok.(json.Delim)
	if !ok {
		return nil
	}
	if depth++; depth > strictjson.MaxDepth {
		return errors.New("depth")
	}
	var keys []string
	for dec.More() {
		inner := free
		if delim == '{' {
			tok, err := dec.Token()
			if err != nil {
				return err
			}
			key := tok.(string)
			if err := referenceKey(key, keys, known, free); err != nil {
				return err
			}
			keys = append(keys, key)
			inner = free || slices.Contains([]string{"meta", "raw", "config", "arguments", "content", "default"}, key)
		}
		if err := referenceValue(dec, known, depth, inner); err != nil {
			return err
		}
	}
	_, err = dec.Token()
	return err
}

func referenceKey(key string, keys []string, known map[string]bool, free bool) error {
	for _, k := range keys {
		if k == key || !free && strings.EqualFold(k, key) {
			return errors.New("duplicate")
		}
	}
	if free || known[key] {
		return nil
	}
	for k := range known {
		if strings.EqualFold(k, key) {
			return errors.New("case variant")
		}
	}
	return nil
}

// FuzzCheck holds the check to the reference in both directions: what it
// accepts every decoder reads alike, and it refuses nothing else.
func FuzzCheck(f *testing.F) {
	for _, docs := range []map[string]string{hostile, friendly} {
		for _, doc := range docs {
			if len(doc) < 10_000 {
				f.Add([]byte(doc))
			}
		}
	}
	f.Add([]byte(`{"name": "memory", "abi": 1, "roles": ["observer"], "knobs": {"depth": {"type": "int_range", "min": 1,` +
		` "max": 9}}}`))
	f.Add(inputDocument(f, 1))
	f.Fuzz(func(t *testing.T, doc []byte) {
		got, want := strictjson.Check(doc, knownKeys), referenceCheck(doc, knownKeys, false)
		if (got == nil) != (want == nil) {
			t.Fatalf("check %v, reference %v: %q", got, want, doc)
		}
		if got == nil && !json.Valid(doc) {
			t.Fatalf("accepted what json.Valid refuses: %q", doc)
		}
		got, want = strictjson.CheckForeign(doc), referenceCheck(doc, nil, true)
		if (got == nil) != (want == nil) {
			t.Fatalf("foreign: check %v, reference %v: %q", got, want, doc)
		}
	})
}

// TestCheckJSONLinear tries every shape that could cost more than its length.
// Quadratic time would be minutes.
func TestCheckJSONLinear(t *testing.T) {
	size := soak.Count(2<<20, 10<<20, 10<<20)
	if cost.Raced {
		size = 2 << 20
	}
	fill := func(s string) string { return strings.Repeat(s, size/len(s)) }
	long := strings.Repeat("k", size/18)
	var longKeys strings.Builder
	for i := range 16 {
		fmt.Fprintf(&longKeys, `,"%s%x":1`, long, i)
	}
	for name, doc := range map[string]string{
		"one string":               `"` + fill("a") + `"`,
		"escapes":                  `"` + fill(`\u00e9`) + `"`,
		"an open string":           `"` + fill("a"),
		"numbers":                  `[` + fill("1,") + `1]`,
		"one number":               fill("1"),
		"white space":              fill(" ") + "1",
		"empty objects":            `[` + fill("{},") + `{}]`,
		"objects of one key":       `[` + fill(`{"a":1},`) + `{}]`,
		"objects of 17 keys":       `[` + fill(manyKeysObject(17, "key%d")+",") + `{}]`,
		"nothing but keys":         manyKeysObject(size/15, "k%07d"),
		"nothing but keys to fold": manyKeysObject(size/25, "K\u00c9%07d"),
		"a million ids":            `{"superseded":[` + fill(`"m0000000",`) + `""]}`,
		"long keys, nearly alike":  `{` + longKeys.String()[1:] + `}`,
		"an escaped key":           `{"` + fill(`\u0041`) + `":1}`,
		"brackets":                 fill("["),
		"keys again and again":     fill(`{"a":`),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			err := strictjson.Check([]byte(doc), knownKeys)
			if took := time.Since(start); took > 20*time.Second {
				t.Errorf("%v for %d MB (%v)", took, len(doc)>>20, err)
			}
		})
	}
}

func TestDecodeStrict(t *testing.T) {
	type inner struct {
		B int `json:"b"`
	}
	type doc struct {
		A    string          `json:"a"`
		List []inner         `json:"list"`
		Raw  json.RawMessage `json:"raw"`
	}
	var d doc
	if err := strictjson.Decode([]byte(`{"a":"x","list":[{"b":1}],"raw":{"B":1,"any":2}}`), &d); err != nil {
		t.Fatal(err)
	}
	if d.A != "x" || len(d.List) != 1 || d.List[0].B != 1 || string(d.Raw) != `{"B":1,"any":2}` {
		t.Errorf("read %+v", d)
	}
	for why, in := range map[string]string{
		"an unknown field":           `{"c":1}`,
		"an unknown field, deeper":   `{"list":[{"c":1}]}`,
		"another case":               `{"A":"x"}`,
		"another case, deeper":       `{"list":[{"B":1}]}`,
		"a field twice":              `{"a":"x","a":"y"}`,
		"a long key twice":           `{"` + strings.Repeat("k", 5000) + `":1,"` + strings.Repeat("k", 5000) + `":1}`,
		"trailing data":              `{"a":"x"}{}`,
		"another type":               `{"a":1}`,
		"nothing":                    ``,
		"a field in the wrong place": `{"b":1}`,
	} {
		t.Run(why, func(t *testing.T) {
			if err := strictjson.Decode([]byte(in), &doc{}); err == nil || errors.Is(err, io.EOF) {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestKeys(t *testing.T) {
	type embedded struct {
		E int `json:"e"`
	}
	type tree struct {
		embedded
		A      int `json:"a,omitempty"`
		Plain  int
		Hidden embedded `json:"-"`
		//lint:ignore SA5008 a field that is called "-"
		Dash int     `json:"-,"`
		Kids []*tree `json:"kids"`
		M    map[string]struct {
			V int `json:"v"`
		} `json:"m"`
		Arr [2]struct {
			W int `json:"w"`
		}
		Any any `json:"any"`
	}
	got := slices.Sorted(maps.Keys(strictjson.Keys(&tree{})))
	if want := []string{"-", "a", "any", "e", "kids", "m", "v", "w"}; !slices.Equal(got, want) {
		t.Errorf("keys %v, want %v", got, want)
	}
	if got := strictjson.Keys(nil); len(got) != 0 {
		t.Errorf("keys of nothing: %v", got)
	}
	// Every field of an input is there, those of embedded messages too.
	keys := strictjson.Keys(abi.Input{})
	for field := range reflect.TypeFor[abi.Message]().Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if !keys[name] {
			t.Errorf("no key %q", name)
		}
	}
}

// TestWithin: what is checked within limits ends at the limit, with its own error.
func TestWithin(t *testing.T) {
	enough := errors.New("enough")
	keys := `{"meta":{`
	for i := range 2000 {
		keys += fmt.Sprintf(`"k%d":1,`, i)
	}
	keys += `"last":1}}`
	values := `[` + strings.Repeat("1,", 100_000) + `1]`
	var taken int64
	looks := 0
	limits := strictjson.Limits{
		Take: func(n int64) error {
			if taken += n; taken > 64<<10 {
				return enough
			}
			return nil
		},
		Look: func() error {
			if looks++; looks > 10 {
				return enough
			}
			return nil
		},
	}
	for name, doc := range map[string]string{"memory for keys": keys, "time for values": values} {
		t.Run(name, func(t *testing.T) {
			taken, looks = 0, 0
			if err := strictjson.Check([]byte(doc), nil); err != nil {
				t.Fatal(err)
			}
			if err := strictjson.CheckWithin([]byte(doc), map[string]bool{"a": true}, limits); !errors.Is(err, enough) {
				t.Errorf("%v is not the limit's own", err)
			}
			taken, looks = 0, 0
			if err := strictjson.CheckForeignWithin([]byte(doc), limits); !errors.Is(err, enough) {
				t.Errorf("of another program's: %v", err)
			}
			if err := strictjson.CheckWithin([]byte(`{"a":[1,{"b":2}]}`), nil, strictjson.Limits{}); err != nil {
				t.Error(err)
			}
		})
	}
}
