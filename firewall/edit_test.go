package firewall_test

import (
	"reflect"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
)

// TestEdit: what pruning edits is held to the same as what a plan edits; an edit
// that breaks a rule is left out, and nothing else.
func TestEdit(t *testing.T) {
	for _, tc := range []struct {
		why   string
		edits []abi.Edit
		want  []string
	}{
		{"a result and arguments are shortened", []abi.Edit{{ID: "r1", Call: abi.EditContent, Text: "short"},
			{ID: "a", Call: 1, Text: "{}"}}, []string{"a", "r1"}},
		{"two calls of one message", []abi.Edit{{ID: "a", Call: 0, Text: "{}"}, {ID: "a", Call: 1, Text: "{}"}},
			[]string{"a"}},
		{"nobody's words", []abi.Edit{{ID: "task", Call: abi.EditContent, Text: "x"},
			{ID: "said", Call: abi.EditContent, Text: "x"}}, nil},
		{"an object stays one", []abi.Edit{{ID: "a", Call: 0, Text: "x"},
			{ID: "r1", Call: abi.EditContent, Text: "short"}}, []string{"r1"}},
		{"nothing gets longer or blank", []abi.Edit{{ID: "a", Call: 0, Text: `{"command":"make test and more"}`},
			{ID: "r2", Call: abi.EditContent, Text: " "}}, nil},
		{"messages that are not there", []abi.Edit{{ID: "gone", Call: abi.EditContent, Text: "x"}}, nil},
		{"no edits", nil, nil},
	} {
		t.Run(tc.why, func(t *testing.T) {
			msgs := session()
			before, tokens := string(sessiongen.JSONL(msgs)), count.Tokens(msgs)
			after, cost, changed := firewall.Edit(msgs, tokens, tc.edits, count)
			if !reflect.DeepEqual(changed, tc.want) {
				t.Errorf("changed %v, want %v", changed, tc.want)
			}
			if !reflect.DeepEqual(cost, count.Tokens(after)) {
				t.Errorf("cost %v, counted again %v", cost, count.Tokens(after))
			}
			if string(sessiongen.JSONL(msgs)) != before || !reflect.DeepEqual(tokens, count.Tokens(msgs)) {
				t.Error("what was given has changed")
			}
		})
	}
}
