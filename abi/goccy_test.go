package abi_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	gojson "github.com/goccy/go-json"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/strictjson"
)

// TestDecodersAgree: guests read with encoding/json and hosts with a faster
// decoder. Documents that pass CheckJSON mean the same to both, and what one
// writes the other reads.
func TestDecodersAgree(t *testing.T) {
	forEachSession(t, func(t *testing.T, lines [][]byte, msgs []abi.Message) {
		in := abi.Input{Hook: abi.HookPostCompact, Record: &abi.Record{ID: "r", Failures: []*abi.Error{{Code: abi.CodeTrap}}}}
		for i, line := range lines {
			var m abi.Message
			if err := gojson.Unmarshal(line, &m); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(m, msgs[i]) {
				t.Fatalf("message %d: %+v, by encoding/json %+v", i, m, msgs[i])
			}
			in.Messages = append(in.Messages, abi.InputMessage{Message: m, Tokens: i, Pinned: i%2 == 0, Unit: i})
		}
		ours, err := gojson.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		if err := strictjson.Check(ours, strictjson.Keys(in)); err != nil {
			t.Fatal(err)
		}
		var a, b any
		if json.Unmarshal(ours, &a) != nil || gojson.Unmarshal(theirs, &b) != nil || !reflect.DeepEqual(a, b) {
			t.Fatal("the two write different documents")
		}
		var x, y abi.Input
		if err := json.Unmarshal(ours, &x); err != nil {
			t.Fatal(err)
		}
		if err := gojson.Unmarshal(theirs, &y); err != nil {
			t.Fatal(err)
		}
		if !equalMessages(x.Messages, y.Messages) || !reflect.DeepEqual(x.Record, y.Record) {
			t.Fatal("the two read different inputs")
		}
	})
}

// equalMessages compares with Content.Equal: parts keep their bytes, and the
// two encoders escape differently.
func equalMessages(a, b []abi.InputMessage) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		x, y := a[i], b[i]
		if !x.Content.Equal(y.Content) || !bytes.Equal(x.Raw, y.Raw) {
			return false
		}
		x.Content, y.Content = abi.Content{}, abi.Content{}
		if !reflect.DeepEqual(x, y) {
			return false
		}
	}
	return true
}
