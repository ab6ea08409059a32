package strategies_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/cost"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
	"github.com/kagewasm/kagewasm/strategies"
)

// read is the transcript of a session of which all but the first message of a
// person and the last message goes.
func read(t *testing.T, cfg strategies.Config, msgs ...abi.Message) string {
	t.Helper()
	session := append(turns(0), msgs...)
	for i := range session {
		if session[i].ID == "" {
			session[i].ID = "x" + string(rune('a'+i))
		}
	}
	session = append(session, abi.Message{ID: "now", Role: abi.RoleUser, Content: abi.Text("go on")})
	cfg.PreserveRecent = -1
	f := &fake{}
	_, err := strategies.Write(t.Context(), f, mustPrepare(t, session, 0, cfg), cfg)
	if len(f.requests) == 0 {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(f.requests[0].Prompt, "request 0\n\n")
	text, _, _ = strings.Cut(text, "\n</conversation-")
	return text
}

func TestTranscriptTranscript(t *testing.T) {
	features.Proves(t, "A4")
	long := strings.Repeat("0123456789", 50)
	part := func(typ, raw string) abi.Part { return abi.RawPart(typ, json.RawMessage(raw)) }
	thinking := new(abi.Content)
	if err := json.Unmarshal([]byte(`[{"type":"reasoning","text":"hm"},{"type":"thinking","thinking":"hm"},`+
		`{"type":"text","text":"so"}]`), thinking); err != nil {
		t.Fatal(err)
	}
	call := abi.Message{Role: abi.RoleAssistant, Content: abi.Text("I look."),
		ToolCalls: []abi.ToolCall{{ID: "c", Name: "write", Arguments: long}}}
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		want string
	}{
		{"roles are marked", []abi.Message{{Role: abi.RoleAssistant, Content: abi.Text("hello")},
			{Role: abi.RoleSystem, Content: abi.Text("be kind")}}, "[assistant]\nhello\n\n[system]\nbe kind"},
		{"a result follows its call, and both are shortened from the middle",
			[]abi.Message{call, {Role: abi.RoleAssistant, Content: abi.Text("meanwhile")},
				{Role: abi.RoleTool, ToolCallID: "c", IsError: true, Content: abi.Text(long)}},
			"[assistant]\nI look.\n-> write " + long[:200] + " … [100 characters left out] … " + long[:200] +
				"\n\n[tool write, failed]\n" + long[:100] + " … [300 characters left out] … " + long[:100] +
				"\n\n[assistant]\nmeanwhile"},
		{"what nobody said is left out", []abi.Message{
			{Role: abi.RoleUser, Kind: abi.KindSynthetic, Content: abi.Text("synthetic")},
			{Role: abi.RoleUser, Kind: abi.KindEphemeral, Content: abi.Text("ephemeral")},
			{Role: abi.RoleUser, Kind: abi.KindDisplayOnly, Content: abi.Text("display")},
			{Role: abi.RoleUser, Kind: abi.KindBookmark, Content: abi.Text("bookmark")},
			{Role: abi.RoleUser, Kind: abi.KindMetadata, Content: abi.Text("metadata")},
			{Role: abi.RoleAssistant, Content: abi.Text("said")}}, "[assistant]\nsaid"},
		{"thinking is left out", []abi.Message{{Role: abi.RoleAssistant, Content: *thinking},
			{Role: abi.RoleAssistant, Content: abi.Text("<think>\nhm\n</think>\n\nand so")}},
			"[assistant]\nso\n\n[assistant]\nand so"},
		{"a person's words are not thinking",
			[]abi.Message{{Role: abi.RoleUser, Content: abi.Text("why <think>this</think>?")}},
			"[user]\nwhy < think>this< /think>?"},
		{"media are named", []abi.Message{
			{Role: abi.RoleUser, Content: abi.Parts(abi.TextPart("see"),
				part("image", `{"type":"image","data":"AAAA"}`))}}, "[user]\nsee\n(image)"},
		{"kinds say what they are", []abi.Message{{Role: abi.RoleUser, Kind: abi.KindBash, Content: abi.Text("ls")},
			{Role: abi.RoleUser, Kind: "odd]\n[user", Content: abi.Text("x")}}, "[user ran]\nls\n\n[user, odd___user]\nx"},
		{"a name is no longer than a name", []abi.Message{{Role: abi.RoleTool, Name: long, Content: abi.Text("x")}},
			"[tool " + long[:64] + "]\nx"},
		{"a recalled memory stands without its frame",
			[]abi.Message{{Role: abi.RoleUser, Kind: abi.KindInjected,
				Content: abi.Text(abi.Fence(abi.KindInjected, "p", "n", "likes tea"))}}, "[recalled memory]\nlikes tea"},
		{"a result that says nothing is there all the same",
			[]abi.Message{{Role: abi.RoleTool, ToolCallID: "gone", Name: "ls"}}, "[tool ls]"},
	} {
		t.Run(tc.why, func(t *testing.T) {
			if got := read(t, strategies.Config{},
				append(tc.msgs, abi.Message{Role: abi.RoleAssistant, Content: abi.Text("end")})...); got != tc.want+
				"\n\n[assistant]\nend" {
				t.Errorf("%s:\n%q\nwant\n%q", tc.why, got, tc.want+"\n\n[assistant]\nend")
			}
		})
	}
}

// TestTogether: a call and its results stand together, wherever they stood,
// and an id used again belongs to its own call.
func TestTogether(t *testing.T) {
	features.Proves(t, "K9")
	call := func(name string) abi.Message {
		return abi.Message{Role: abi.RoleAssistant, ToolCalls: []abi.ToolCall{{ID: "c", Name: name}}}
	}
	result := func(text string) abi.Message {
		return abi.Message{Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(text)}
	}
	got := read(t, strategies.Config{}, call("first"), abi.Message{Role: abi.RoleUser, Content: abi.Text("wait")},
		result("one"), call("second"), result("two"))
	want := "[assistant]\n-> first\n\n[tool first]\none\n\n[user]\nwait\n\n[assistant]\n-> second\n\n[tool second]\ntwo"
	if got != want {
		t.Errorf("%q\nwant\n%q", got, want)
	}
}

// TestLinearTime: preparing and asking grow with the session, not
// with its square.
func TestLinearTime(t *testing.T) {
	features.Proves(t, "complaint 4")
	cost.Linear(t, 300, func(turns int) func() {
		v := toSummarize(sessiongen.Long(turns, 30), 100)
		return func() {
			p, err := strategies.Prepare(v, strategies.Config{}, 10)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := strategies.Write(context.Background(), &fake{}, p,
				strategies.Config{InputTokens: 1 << 30}); err != nil {
				t.Fatal(err)
			}
		}
	})
}
