package sessiongen_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
)

// TestMessages: a generator that never makes the odd cases proves nothing.
func TestMessages(t *testing.T) {
	met := map[string]int{}
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(60).Draw(t, "session")
		seen := map[string]bool{}
		for i := range msgs {
			if m := &msgs[i]; seen[m.ID] || !m.Role.Valid() {
				t.Fatalf("message %d: id %q role %q", i, m.ID, m.Role)
			}
			seen[msgs[i].ID] = true
		}
		oddities(msgs, met)
	})
	for _, what := range []string{"far result", "several calls", "orphan call", "orphan result", "reused id",
		"leading meta", "pinned later"} {
		t.Run(what, func(t *testing.T) {
			if met[what] == 0 {
				t.Errorf("no session with: %s", what)
			}
		})
	}
}

func oddities(msgs []abi.Message, met map[string]int) {
	units, _ := abi.Units(msgs)
	for _, u := range units {
		if u[len(u)-1]-u[0] >= len(u) {
			met["far result"]++
		}
	}
	calls, results := abi.Orphans(msgs)
	met["orphan call"] += len(calls)
	met["orphan result"] += len(results)
	made := map[string]bool{}
	for i, m := range msgs {
		if len(m.ToolCalls) > 1 {
			met["several calls"]++
		}
		for _, c := range m.ToolCalls {
			if made[c.ID] {
				met["reused id"]++
			}
			made[c.ID] = true
		}
		if i == 0 && m.Kind == abi.KindMeta {
			met["leading meta"]++
		}
		if i > 5 && m.Meta.Bool(abi.MetaAlwaysKeep) {
			met["pinned later"]++
		}
	}
}

func TestJSONL(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(20).Draw(t, "session")
		var again []abi.Message
		dec := json.NewDecoder(bytes.NewReader(sessiongen.JSONL(msgs)))
		for dec.More() {
			var m abi.Message
			if err := dec.Decode(&m); err != nil {
				t.Fatal(err)
			}
			again = append(again, m)
		}
		if !bytes.Equal(sessiongen.JSONL(msgs), sessiongen.JSONL(again)) || len(again) != len(msgs) {
			t.Fatal("reading back what was written gives something else")
		}
	})
}

func TestLong(t *testing.T) {
	msgs := sessiongen.Long(3, 10)
	if calls, results := abi.Orphans(msgs); len(msgs) != 9 || len(calls)+len(results) > 0 {
		t.Errorf("%d messages, orphans %v %v", len(msgs), calls, results)
	}
	if !reflect.DeepEqual(msgs, sessiongen.Long(3, 10)) {
		t.Error("not the same at every call")
	}
	c := sessiongen.Counter{}
	if n := sessiongen.Sum(c.Tokens(msgs[:1])); n != 1+6 {
		t.Errorf("23 runes and a frame count %d", n)
	}
}
