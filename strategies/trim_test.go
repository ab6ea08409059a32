package strategies_test

import (
	"encoding/json"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

func TestTrim(t *testing.T) {
	features.Proves(t, "A1")
	synthetic := func(id string, role abi.Role, text string) abi.Message {
		return abi.Message{ID: id, Role: role, Kind: abi.KindSynthetic, Content: abi.Text(text)}
	}
	say := func(id string) abi.Message { return synthetic(id, abi.RoleUser, "loop detected") }
	task, now, last := sized("task", abi.RoleUser, 5), sized("now", abi.RoleUser, 5), sized("last", abi.RoleAssistant, 5)
	keep := say("keep")
	keep.Meta = abi.Meta{abi.MetaAlwaysKeep: []byte("true")}
	parts := func(id, raw string) abi.Message {
		m := say(id)
		m.Content = abi.Parts(abi.TextPart("loop detected"), abi.RawPart("image", json.RawMessage(raw)))
		return m
	}
	calling := synthetic("a", abi.RoleAssistant, "loop detected")
	calling.ToolCalls = []abi.ToolCall{{ID: "c", Name: "x"}}
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"the newest of the same stays", []abi.Message{task, say("1"), say("2"), say("3"), now, last}, "1 2"},
		{"another text is another message",
			[]abi.Message{task, say("1"), synthetic("2", abi.RoleUser, "loop detected."), now, last}, ""},
		{"another role, too", []abi.Message{task, say("1"), synthetic("2", abi.RoleAssistant, "loop detected"), now,
			last}, ""},
		{"what a person says twice stays", []abi.Message{task, task, now, last}, ""},
		{"what is pinned stays", []abi.Message{task, keep, say("2"), now, last}, ""},
		{"and stands for the older ones", []abi.Message{task, say("1"), keep, now, last}, "1"},
		{"the current turn stays", []abi.Message{task, say("1"), now, say("2")}, "1"},
		{"images are part of what is said", []abi.Message{task, parts("1", `{"type":"image","data":"a"}`),
			parts("2", `{"type":"image","data":"b"}`), parts("3", `{"type":"image","data":"a"}`), now, last}, "1"},
		{"what calls tools stays whole", []abi.Message{task, calling, calling, now, last}, ""},
		{"nothing of nothing", nil, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := strings.Join(strategies.Trim(whole(tc.msgs)), " "); got != tc.want {
				t.Errorf("%q went, want %q", got, tc.want)
			}
		})
	}
}

// TestTrimProperties: the firewall takes it, every text is still said, and
// trimming again does nothing.
func TestTrimProperties(t *testing.T) {
	features.Proves(t, "A1")
	did := 0
	rapid.Check(t, func(t *rapid.T) {
		msgs := sessiongen.Messages(60).Draw(t, "session")
		for i := range msgs {
			if msgs[i].Kind == abi.KindSynthetic {
				msgs[i].Content = abi.Text(rapid.SampledFrom([]string{"loop detected", "go on", "be brief"}).Draw(t, "text"))
			}
		}
		ids := strategies.Trim(whole(msgs))
		if len(ids) == 0 {
			return
		}
		did += len(ids)
		v, err := firewall.Apply(firewall.Case{Messages: msgs, Pinned: abi.Pinned(msgs), Turn: abi.CurrentTurn(msgs),
			Target: 1 << 40, Count: count}, abi.Plan{Supersede: ids})
		if err != nil {
			t.Fatalf("the firewall refuses %v: %v", ids, err)
		}
		if a, b := texts(msgs), texts(v.Messages); len(a) != len(b) {
			t.Fatalf("%v of %v are still said", b, a)
		}
		if again := strategies.Trim(whole(v.Messages)); len(again) > 0 {
			t.Fatalf("again: %v", again)
		}
	})
	if did == 0 {
		t.Error("nothing was ever trimmed: nothing was shown")
	}
}

func texts(msgs []abi.Message) map[string]bool {
	set := map[string]bool{}
	for _, m := range msgs {
		if m.Kind == abi.KindSynthetic {
			set[m.Text()] = true
		}
	}
	return set
}
