package msgid_test

import (
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/msgid"
)

func free(string) bool { return false }

func user(id, text string) abi.Message {
	return abi.Message{ID: id, Role: abi.RoleUser, Content: abi.Text(text)}
}

func ids(msgs []abi.Message) (list []string) {
	for i := range msgs {
		list = append(list, msgs[i].ID)
	}
	return list
}

// TestFill: ids are stable by what a message says and by its place among those that
// say the same.
func TestFill(t *testing.T) {
	a, b := user("", "yes"), user("", "no")
	first := ids(msgid.Fill([]abi.Message{a, b, a}, nil, free))
	if first[0] == "" || first[0] == first[1] || first[0] == first[2] || first[1] == first[2] {
		t.Fatalf("ids %q", first)
	}
	shown := abi.Message{Role: abi.RoleUser, Content: abi.Parts(abi.TextPart("yes"))}
	called := abi.Message{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "1", Name: "ls"}}}
	for name, tc := range map[string]struct {
		msgs, known []abi.Message
		taken       func(string) bool
		want        []string // "" for one that first does not have
	}{
		"the same list":           {[]abi.Message{a, b, a}, nil, free, first},
		"a list that grew":        {[]abi.Message{a, b, a, b}, nil, free, append(slices.Clone(first), "")},
		"ids that there are stay": {[]abi.Message{user("x", "yes"), b}, nil, free, []string{"x", first[1]}},
		"none that is there":      {[]abi.Message{user(first[1], "x"), b}, nil, free, []string{first[1], ""}},
		"none that is taken": {[]abi.Message{a}, nil, func(id string) bool { return id == first[0] },
			[]string{first[2]}},
		"a known beginning keeps it": {[]abi.Message{a, b}, []abi.Message{user("k1", "yes"), user("k2", "maybe")}, free,
			[]string{"k1", first[1]}},
		"another role, form or call": {[]abi.Message{{Role: abi.RoleSystem, Content: abi.Text("yes")}, shown, called}, nil,
			free,
			[]string{"", "", ""}},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(tc.msgs)
			got := ids(msgid.Fill(tc.msgs, tc.known, tc.taken))
			seen := make(map[string]bool)
			for i, id := range got {
				if want := tc.want[i]; id == "" || seen[id] || want != "" && id != want || want == "" && slices.Contains(first,
					id) {
					t.Errorf("message %d has %q, want %q of %q", i, id, tc.want[i], got)
				}
				seen[id] = true
			}
			if !slices.Equal(ids(tc.msgs), ids(before)) {
				t.Error("the caller's list was changed")
			}
		})
	}
}
