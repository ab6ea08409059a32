package abi_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
)

// The functions below are a second reading of K9 and K10: line by line the
// checker that compactions are judged by from outside, over the JSON alone and
// without the types of this package.

type object = map[string]any

type orphan struct{ message, call any }

func refCalls(m object) []object {
	list, _ := m["tool_calls"].([]any)
	calls := make([]object, len(list))
	for i, c := range list {
		calls[i] = c.(object)
	}
	return calls
}

func refUnits(ms []object) (group []abi.Unit, of []int) {
	of = make([]int, len(ms))
	open := map[any]int{}
	for i, m := range ms {
		if u, ok := open[m["tool_call_id"]]; ok && m["role"] == "tool" {
			delete(open, m["tool_call_id"])
			group[u] = append(group[u], i)
			of[i] = u
			continue
		}
		of[i] = len(group)
		group = append(group, abi.Unit{i})
		if m["role"] == "assistant" {
			for _, c := range refCalls(m) {
				open[c["id"]] = of[i]
			}
		}
	}
	return group, of
}

func refOrphans(ms []object) (calls, results map[orphan]bool) {
	calls, results = map[orphan]bool{}, map[orphan]bool{}
	open := map[any]int{}
	for i, m := range ms {
		switch m["role"] {
		case "assistant":
			for _, c := range refCalls(m) {
				if at, ok := open[c["id"]]; ok {
					calls[orphan{ms[at]["id"], c["id"]}] = true
				}
				open[c["id"]] = i
			}
		case "tool":
			if _, ok := open[m["tool_call_id"]]; ok {
				delete(open, m["tool_call_id"])
			} else {
				results[orphan{m["id"], m["tool_call_id"]}] = true
			}
		}
	}
	for id, i := range open {
		calls[orphan{ms[i]["id"], id}] = true
	}
	return calls, results
}

// refPins stops at the first person's message, so it names the head alone.
func refPins(ms []object) (pins []int) {
	for i, m := range ms {
		meta, _ := m["meta"].(object)
		switch kind, _ := m["kind"].(string); {
		case m["role"] == "user" && kind == "" && refPerson(ms, i):
			return append(pins, i)
		case m["role"] == "user" && kind == "" && strings.HasPrefix(m["content"].(string), "# AGENTS.md instructions"):
			pins = append(pins, i)
		case m["role"] == "system", meta["always_keep"] == true:
			pins = append(pins, i)
		}
	}
	return pins
}

// refPerson knows the messages in the role of the user that no person typed, in the
// shared sessions: commands of a harness and their output, reminders, a demonstration,
// and in a session where commands stand in the text what a shell answered.
func refPerson(ms []object, i int) bool {
	text, ok := ms[i]["content"].(string)
	if !ok {
		return true
	}
	for _, head := range []string{"<local-command-", "<bash-", "[Request interrupted", "<turn_aborted>",
		"# AGENTS.md instructions",
		"Here is a demonstration", "Review the conversation above and update ",
		"Review the conversation above and consider saving "} {
		if strings.HasPrefix(strings.TrimSpace(text), head) {
			return false
		}
	}
	if strings.HasPrefix(text, "<command-") {
		return strings.Contains(text, "<command-args>") && !strings.Contains(text, "<command-args></command-args>")
	}
	if strings.HasPrefix(text, "[System note: ") && strings.HasSuffix(strings.TrimSpace(text), "]") {
		return false
	}
	return !(strings.HasSuffix(text, "\nbash-$") && slices.ContainsFunc(ms[:i], func(m object) bool {
		return m["role"] == "assistant"
	}))
}

func refTurn(ms []object) map[int]bool {
	turn := map[int]bool{}
	for i := len(ms) - 1; i >= 0; i-- {
		if kind, _ := ms[i]["kind"].(string); ms[i]["role"] == "user" && kind == "" && refPerson(ms, i) {
			turn[i] = true
			break
		}
	}
	group, of := refUnits(ms)
	for _, i := range group[of[len(ms)-1]] {
		turn[i] = true
	}
	return turn
}

func orphanKeys(set map[orphan]bool) map[string]bool {
	keys := make(map[string]bool, len(set))
	for o := range set {
		call, _ := o.call.(string)
		keys[o.message.(string)+"/"+call] = true
	}
	return keys
}

func indices(marks []bool) (list []int) {
	for i, m := range marks {
		if m {
			list = append(list, i)
		}
	}
	return list
}

func TestReferenceOnSessions(t *testing.T) {
	features.Proves(t, "K9", "K10")
	forEachSession(t, func(t *testing.T, lines [][]byte, msgs []abi.Message) {
		ms := make([]object, len(lines))
		for i, line := range lines {
			if err := json.Unmarshal(line, &ms[i]); err != nil {
				t.Fatal(err)
			}
		}
		units, of := abi.Units(msgs)
		checkPartition(t, msgs, units, of)
		if wantUnits, wantOf := refUnits(ms); !reflect.DeepEqual(units, wantUnits) || !slices.Equal(of, wantOf) {
			t.Error("units differ from the reference")
		}
		if want := naiveUnits(msgs); !reflect.DeepEqual(units, want) {
			t.Error("units differ from the naive ones")
		}
		calls, results := abi.Orphans(msgs)
		wantCalls, wantResults := refOrphans(ms)
		if !maps.Equal(calls, orphanKeys(wantCalls)) || !maps.Equal(results, orphanKeys(wantResults)) {
			t.Errorf("orphans %v %v, by the reference %v %v", calls, results, wantCalls, wantResults)
		}
		checkPinsAgainst(t, ms, msgs)
		if got, want := indices(abi.CurrentTurn(msgs)), slices.Sorted(maps.Keys(refTurn(ms))); !slices.Equal(got, want) {
			t.Errorf("current turn %v, by the reference %v", got, want)
		}
		checkPrefix(t, msgs)
	})
}

// checkPinsAgainst compares the pins of the head; after it only what is marked
// may be pinned, which the reference does not look at.
func checkPinsAgainst(t *testing.T, ms []object, msgs []abi.Message) {
	t.Helper()
	want := refPins(ms)
	head := slices.IndexFunc(msgs, func(m abi.Message) bool { return m.IsPerson() }) + 1
	if head == 0 {
		head = len(msgs)
	}
	pins := abi.Pinned(msgs)
	if got := indices(pins[:head]); !slices.Equal(got, want) {
		t.Errorf("pins %v, by the reference %v", got, want)
	}
	for i := head; i < len(msgs); i++ {
		if pins[i] != msgs[i].Meta.Bool(abi.MetaAlwaysKeep) {
			t.Errorf("message %d after the head: pinned %v", i, pins[i])
		}
	}
}

// TestMessageRoundTripOnSessions: what is read and written again is read as
// the same message, and says what the source line said.
func TestMessageRoundTripOnSessions(t *testing.T) {
	forEachSession(t, func(t *testing.T, lines [][]byte, msgs []abi.Message) {
		for i, m := range msgs {
			out, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			var back abi.Message
			if err := json.Unmarshal(out, &back); err != nil {
				t.Fatal(err)
			}
			if !back.Content.Equal(m.Content) || !reflect.DeepEqual(back.ToolCalls, m.ToolCalls) {
				t.Fatalf("message %d changed:\n%s\n%s", i, lines[i], out)
			}
			again, err := json.Marshal(back)
			if err != nil || !bytes.Equal(out, again) {
				t.Fatalf("message %d: written a second time differently (%v):\n%s\n%s", i, err, out, again)
			}
			var a, b object
			if json.Unmarshal(lines[i], &a) != nil || json.Unmarshal(out, &b) != nil {
				t.Fatal("not an object")
			}
			for key, v := range a {
				if _, isText := v.(string); isText && b[key] != v {
					t.Fatalf("message %d: %s is %q, was %q", i, key, b[key], v)
				}
			}
		}
	})
}
