package strategies_test

import (
	"encoding/json"
	"strings"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// tester is a test or a property.
type tester interface {
	Helper()
	Fatalf(format string, args ...any)
}

// edited has the firewall apply edits: it refuses those that touch what is
// pinned, grow, blank, or break the form of arguments.
func edited(t tester, msgs []abi.Message, edits []abi.Edit, counter abi.Counter) []abi.Message {
	t.Helper()
	if len(edits) == 0 {
		return msgs
	}
	v, err := firewall.Apply(firewall.Case{
		Messages: msgs, Pinned: abi.Pinned(msgs), Target: 1 << 40, Count: counter,
	}, abi.Plan{Edit: edits})
	if err != nil {
		t.Fatalf("the firewall refuses %+v: %v", edits, err)
	}
	for _, e := range edits {
		if abi.Defuse(e.Text) != e.Text {
			t.Fatalf("the edit of %s is not defused: %q", e.ID, e.Text)
		}
	}
	return v.Messages
}

// whole is a view with everything set, for functions that need no target.
func whole(msgs []abi.Message) *strategies.View { return view(msgs, 1<<40, 0, false) }

// checkEdits: the session itself is unchanged, what is pinned has no edit, the
// firewall takes them all, each message got cheaper, and doing it again to the
// result does nothing more.
func checkEdits(t *rapid.T, msgs []abi.Message, do func([]abi.Message) []abi.Edit) []abi.Message {
	t.Helper()
	before := string(sessiongen.JSONL(msgs))
	edits := do(msgs)
	if string(sessiongen.JSONL(msgs)) != before {
		t.Fatal("the session was changed")
	}
	after := edited(t, msgs, edits, count)
	if len(after) != len(msgs) {
		t.Fatal("messages are missing")
	}
	changed := map[string]bool{}
	for _, e := range edits {
		changed[e.ID] = true
	}
	for i := range msgs {
		a, b := count.Message(&msgs[i]), count.Message(&after[i])
		if changed[msgs[i].ID] && b >= a || !changed[msgs[i].ID] && b != a {
			t.Fatalf("%s: %d tokens before, %d after, edited %v", msgs[i].ID, a, b, changed[msgs[i].ID])
		}
	}
	if again := do(after); len(again) > 0 {
		t.Fatalf("doing it again edits %+v", again)
	}
	return after
}

// called makes a session whose last but one unit is a call with these arguments.
func called(arguments ...string) []abi.Message {
	msgs := []abi.Message{sized("u", abi.RoleUser, 10)}
	for _, args := range arguments {
		id := "c" + string(rune('0'+len(msgs)))
		msgs = append(msgs,
			abi.Message{ID: "a" + id, Role: abi.RoleAssistant,
				ToolCalls: []abi.ToolCall{{ID: id, Name: "write", Arguments: args}}},
			abi.Message{ID: "r" + id, Role: abi.RoleTool, ToolCallID: id, Content: abi.Text("ok")})
	}
	return append(msgs, sized("now", abi.RoleUser, 10), sized("last", abi.RoleAssistant, 10))
}

func object(pairs ...any) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		v, err := json.Marshal(pairs[i+1])
		if err != nil {
			panic(err)
		}
		b.WriteString(`,"` + pairs[i].(string) + `":` + string(v))
	}
	return "{" + b.String()[1:] + "}"
}

// lines is a text of n numbered lines.
func lines(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("line number ")
		b.WriteString(strings.Repeat("0", i%3))
		b.WriteString(" of the output\n")
	}
	return b.String()
}

func editsOf(edits []abi.Edit) string {
	var ids []string
	for _, e := range edits {
		ids = append(ids, e.ID)
	}
	return strings.Join(ids, " ")
}
