package wire_test

import (
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/wire"
)

// TestMessages: a list of messages is read and written as encoding/json does, field by
// field, and what is no list is an error.
func TestMessages(t *testing.T) {
	var full abi.Message
	fill(reflect.ValueOf(&full).Elem(), new(counting))
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.String()
		list := rapid.SliceOf(rapid.Custom(func(t *rapid.T) abi.Message {
			m := full
			m.ID, m.Content = text.Draw(t, "id"), abi.Text(text.Draw(t, "content"))
			if rapid.Bool().Draw(t, "parts") {
				m.Content = abi.Parts(abi.TextPart(text.Draw(t, "part")), abi.RawPart("image", json.RawMessage(`{"type":"image","x":1}`)))
				m.Meta, m.ToolCalls = nil, nil
			}
			return m
		})).Draw(t, "list")
		written, err := wire.AppendMessages([]byte("x"), list)
		if err != nil || written[0] != 'x' {
			t.Fatalf("%v: %.100s", err, written)
		}
		for _, doc := range [][]byte{written[1:], encode(t, json.Marshal, list)} {
			var want []abi.Message
			if err := json.Unmarshal(doc, &want); err != nil {
				t.Fatal(err)
			}
			got, err := wire.Messages(string(doc))
			if err != nil || len(got)+len(want) > 0 && !reflect.DeepEqual(got, want) {
				t.Fatalf("%v: %+v, want %+v", err, got, want)
			}
		}
	})
	for _, doc := range []string{"", "{}", `[{"id":1}]`, `[{}`, `[{}] x`, `[{"id":"a","id":"b"}]`} {
		if _, err := wire.Messages(doc); err == nil {
			t.Errorf("took %q", doc)
		}
	}
}
