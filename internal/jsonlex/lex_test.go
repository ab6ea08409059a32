package jsonlex_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/jsonlex"
)

// FuzzText: a text is read where and as encoding/json reads it.
func FuzzText(f *testing.F) {
	for _, s := range []string{
		`"`, `plain, and longer than eight bytes"`, `a\n\t\"\\\/\b\f\r" rest`, `\u00e9\ud83d\ude00\ud83d\u0041"`,
		`\u12"`, `\x"`, `\`, "a\x1fb\"", "\xff\xfe, éé\"", `no end`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, doc []byte) {
		n, end, ascii, ok := jsonlex.Unescape(make([]byte, len(doc)+8), doc)
		if !ok {
			if quote := strings.IndexByte(string(doc), '"'); quote >= 0 && json.Valid([]byte(`"`+string(doc[:quote+1]))) {
				t.Fatal("refused a text")
			}
			return
		}
		var want string
		if err := json.Unmarshal([]byte(`"`+string(doc[:end+1])), &want); err != nil {
			t.Fatalf("took %q: %v", doc[:end+1], err)
		}
		to := make([]byte, len(doc)+8)
		jsonlex.Unescape(to, doc)
		if got := string([]rune(string(to[:n]))); got != want {
			t.Fatalf("%q, want %q", got, want)
		}
		if ascii && strings.IndexFunc(string(doc[:end]), func(r rune) bool { return r > 0x7f }) >= 0 {
			t.Fatal("not all of it is ASCII")
		}
		if first, _ := jsonlex.Plain(doc, 0); first > end || strings.ContainsAny(string(doc[:first]), "\"\\") {
			t.Fatalf("plain up to %d", first)
		}
	})
}

// FuzzNumber: what it takes is what encoding/json takes, and all it can.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "01", "1.5e+7,", "-", "1.", "1e", ".5", "12]", "1.5.5", "0x1", ""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		n := jsonlex.Number(b)
		if n > 0 && !json.Valid(b[:n]) {
			t.Fatalf("took %q", b[:n])
		}
		all := len(b) > 0 && (b[0] == '-' || b[0] >= '0' && b[0] <= '9') && b[len(b)-1] > ' ' && json.Valid(b)
		if all && n != len(b) {
			t.Fatalf("took %q of %q", b[:n], b)
		}
	})
}
