package service

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

// TestMessagesAsLines: each message of a list is a line, without the space that stood between its parts.
func TestMessagesAsLines(t *testing.T) {
	value := rapid.SampledFrom([]string{`null`, `-1.5e3`, `""`, `"a, b] \\\" {"`, `"\\\\"`, "\" \u2028\t\"", `[ ]`, `{ }`,
		"{\n\"a\" : [1, {\"b\": \"x\"}],\t\"c\":\"] ,\" }"})
	rapid.Check(t, func(t *rapid.T) {
		var list, want bytes.Buffer
		list.WriteByte('[')
		for i, v := range rapid.SliceOfN(value, 0, 5).Draw(t, "messages") {
			if !json.Valid([]byte(v)) {
				continue
			}
			if i > 0 && want.Len() > 0 {
				list.WriteString(" ,\n")
			}
			list.WriteString(v)
			_ = json.Compact(&want, []byte(v))
			want.WriteByte('\n')
		}
		list.WriteString("\n]")
		if got := linesOf(list.Bytes()); !bytes.Equal(got, want.Bytes()) {
			t.Errorf("%s: %q, want %q", list.Bytes(), got, want.Bytes())
		}
	})
}
