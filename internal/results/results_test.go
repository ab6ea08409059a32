package results_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/results"
)

// list builds messages of words: "say", "call:a,b", "res:a".
func list(words ...string) (msgs []abi.Message) {
	for _, w := range words {
		verb, ids, _ := strings.Cut(w, ":")
		m := abi.Message{Role: abi.RoleAssistant}
		switch verb {
		case "res":
			m.Role, m.ToolCallID = abi.RoleTool, ids
		case "call":
			for _, id := range strings.Split(ids, ",") {
				m.ToolCalls = append(m.ToolCalls, abi.ToolCall{ID: id})
			}
		}
		msgs = append(msgs, m)
	}
	return msgs
}

// TestFurther: "a tool call with all its results", where a call has more than one.
func TestFurther(t *testing.T) {
	features.Proves(t, "K9")
	for why, c := range map[string]struct {
		msgs []abi.Message
		want []int
	}{
		"one result each":       {list("call:a,b", "res:b", "res:a", "call:a", "res:a"), nil},
		"a call answered again": {list("call:a", "res:a", "res:a"), []int{-1, -1, 1}},
		"and again, later": {list("call:a", "res:a", "say", "res:a", "call:b", "res:b", "res:a"),
			[]int{-1, -1, -1, 1, -1, -1, 1}},
		"one of two":                   {list("call:a,b", "res:b", "res:a", "res:b"), []int{-1, -1, -1, 1}},
		"the id is used again":         {list("call:a", "res:a", "call:a", "res:a", "res:a"), []int{-1, -1, -1, -1, 3}},
		"one id for two calls at once": {list("call:a,a", "res:a", "res:a", "res:a"), []int{-1, -1, -1, 2}},
		"nobody asked":                 {list("res:a", "res:a"), nil},
	} {
		t.Run(why, func(t *testing.T) {
			if got := results.Further(c.msgs); !slices.Equal(got, c.want) {
				t.Errorf("got %v, want %v", got, c.want)
			}
		})
	}
}

// TestOpen: a second result answers no other call.
func TestOpen(t *testing.T) {
	features.Proves(t, "K9")
	for why, c := range map[string]struct {
		msgs []abi.Message
		want bool
	}{
		"answered":           {list("call:a,b", "res:b", "res:a"), false},
		"not answered":       {list("call:a,b", "res:b"), true},
		"one answered twice": {list("call:a,b", "res:b", "res:b"), true},
		"no call":            {list("say"), false},
		"nobody asked":       {list("res:a"), false},
	} {
		t.Run(why, func(t *testing.T) {
			units, _ := abi.Units(c.msgs)
			if got := results.Open(c.msgs, units[0]); got != c.want {
				t.Errorf("got %t, want %t", got, c.want)
			}
		})
	}
}

// TestJoined: what all results of a call say is said, images among it, in order or the last first, once where two say
// the same; and the call failed where the last one says so.
func TestJoined(t *testing.T) {
	features.Proves(t, "K9")
	image := abi.Part{Type: "image"}
	began := abi.Message{ID: "r1", Role: abi.RoleTool, Content: abi.Parts(abi.TextPart("began"), image), IsError: true}
	again := abi.Message{Role: abi.RoleTool, Content: abi.Parts(abi.TextPart("began"), image)}
	ended := abi.Message{Role: abi.RoleTool, Content: abi.Text("ended"), Name: "make"}
	for backwards, want := range map[bool][]abi.Part{false: {abi.TextPart("began"), image, abi.TextPart("ended")},
		true: {abi.TextPart("ended"), abi.TextPart("began"), image}} {
		got := results.Joined([]*abi.Message{&began, &again, &ended}, backwards)
		if !got.Content.Equal(abi.Parts(want...)) || got.ID != "r1" || got.Name != "make" || got.IsError {
			t.Errorf("backwards %v: %+v", backwards, got)
		}
	}
}
