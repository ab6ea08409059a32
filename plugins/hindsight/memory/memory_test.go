package memory_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/abi/abitest"
	"github.com/kagewasm/kagewasm/abi/guest/guesttest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/secretforms"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/plugins/hindsight/memory"
)

// manifest is the plugin's own, so that what it says is what is tested.
var manifest = sync.OnceValue(func() *abi.Manifest {
	m, err := abitest.ReadManifest("../plugin.yaml")
	if err != nil {
		panic(err)
	}
	return m
})

func TestConformance(t *testing.T) {
	abitest.Run(t, manifest(), &guesttest.Plugin{Plugin: memory.Plugin})
}

// native calls the plugin over a host in memory, which keeps what is stored.
type native struct {
	t     *testing.T
	p     *guesttest.Plugin
	knobs map[string]any
	// change, if set, changes the input.
	change func(*abi.Input)
}

func newNative(t *testing.T) *native {
	return &native{t: t, p: &guesttest.Plugin{Plugin: memory.Plugin, Host: new(guesttest.Host)}, knobs: map[string]any{}}
}

func (n *native) call(hook abi.Hook, session string, target int, msgs ...abi.Message) (*abi.Output, abi.CallStats) {
	n.t.Helper()
	in := abitest.NewInput(manifest(), msgs, 1000)
	in.Hook, in.Session.ID = hook, session
	in.Budget = abi.Budget{TargetTokens: target, SummaryTokens: 1500}
	for k, v := range n.knobs {
		in.Config[k], _ = json.Marshal(v)
	}
	if n.change != nil {
		n.change(in)
	}
	out, stats, err := n.p.Call(n.t.Context(), in)
	if err != nil {
		n.t.Fatal(err)
	}
	if out == nil {
		out = &abi.Output{}
	}
	return out, stats
}

// recalled is what is injected into a session where somebody asks.
func (n *native) recalled(question string) string {
	out, _ := n.call(abi.HookPreCompact, "another", 1000, say("q", abi.RoleUser, "hello"),
		say("q2", abi.RoleAssistant, "hi"), say("q3", abi.RoleUser, question))
	return out.Inject
}

func say(id string, role abi.Role, text string) abi.Message {
	return abi.Message{ID: id, Role: role, Content: abi.Text(text), Timestamp: "2026-05-08T10:00:00Z"}
}

func kind(m abi.Message, k abi.Kind) abi.Message {
	m.Kind = k
	return m
}

// TestHindsightRetains: what people and the agent said is remembered, and
// nothing else.
func TestHindsightRetains(t *testing.T) {
	features.Proves(t, "K28")
	call := say("a", abi.RoleAssistant, "Let me run it.")
	call.ToolCalls = []abi.ToolCall{{ID: "c", Name: "bash", Arguments: `{"command":"make zebra"}`}}
	result := abi.Message{ID: "r", Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text("zebra: exit status 2")}
	named := say("a", abi.RoleUser, "The zebra is mine.")
	named.Name = "Caroline"
	undated := say("a", abi.RoleUser, "An undated zebra.")
	undated.Timestamp = ""
	for _, c := range []struct {
		why   string
		knobs map[string]any
		msgs  []abi.Message
		want  string // "" is nothing
	}{
		{"a person's words", nil, []abi.Message{say("a", abi.RoleUser, "The zebra\nlives in\tpen 4.")},
			"- [2026-05-08, user, s1 a] The zebra lives in pen 4."},
		{"a person's name", nil, []abi.Message{named}, "- [2026-05-08, Caroline, s1 a] The zebra is mine."},
		{"the agent's words", nil, []abi.Message{say("a", abi.RoleAssistant, "The zebra is fed.")},
			"- [2026-05-08, assistant, s1 a] The zebra is fed."},
		{"without a time it is that of the call", nil, []abi.Message{undated},
			"- [2026-11-21, user, s1 a] An undated zebra."},
		{"no secrets", nil, []abi.Message{say("a", abi.RoleUser, "The zebra's password = hunter2-Correct7, keep it.")},
			"[redacted: secret]"},
		{"no secrets as they are told", nil,
			[]abi.Message{say("a", abi.RoleUser,
				"The zebra says the password is hunter22, and to use the key 7HxA9bQ2Lm5Zr8Tw3Yk6 there.")},
			"The zebra says the password is [redacted: secret], and to use the key [redacted: secret] there."},
		{"no system prompt", nil, []abi.Message{say("a", abi.RoleSystem, "Mind the zebra.")}, ""},
		{"no summary", nil, []abi.Message{kind(say("a", abi.RoleUser, "Earlier: the zebra."), abi.KindSummary)}, ""},
		{"no memory", nil, []abi.Message{kind(say("a", abi.RoleUser, "- [x] the zebra"), abi.KindInjected)}, ""},
		{"no memory that lost its kind", nil,
			[]abi.Message{say("a", abi.RoleUser, abi.Fence(abi.KindInjected, "plugin:hindsight", "note", "the zebra"))}, ""},
		{"nothing of a harness", nil, []abi.Message{kind(say("a", abi.RoleUser, "zebra reminder"), abi.KindSynthetic)}, ""},
		{"no tool calls", nil, []abi.Message{call, result}, ""},
		{"tool calls by configuration", map[string]any{"retain_tool_calls": true}, []abi.Message{call, result},
			"Let me run it. [bash: make zebra] → zebra: exit status 2"},
		{"how a call ended", map[string]any{"retain_tool_calls": true},
			[]abi.Message{call, {ID: "b", Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text("zebra: started")}, result},
			"Let me run it. [bash: make zebra] → zebra: exit status 2"},
		{"nothing by configuration", map[string]any{"retain": false},
			[]abi.Message{say("a", abi.RoleUser, "The zebra.")}, ""},
		{"another bank", map[string]any{"dynamic_bank_id": true, "dynamic_bank_granularity": "session"},
			[]abi.Message{say("a", abi.RoleUser, "The zebra.")}, ""},
		{"nothing is recalled by configuration", map[string]any{"recall": false},
			[]abi.Message{say("a", abi.RoleUser, "The zebra.")}, ""},
		{"of some types alone", map[string]any{"recall_types": "experience"},
			[]abi.Message{say("a", abi.RoleUser, "The zebra.")}, ""},
		{"of some tags alone", map[string]any{"recall_tags": "other", "recall_tags_match": "any_strict"},
			[]abi.Message{say("a", abi.RoleUser, "The zebra.")}, ""},
	} {
		t.Run(c.why, func(t *testing.T) {
			n := newNative(t)
			n.knobs = c.knobs
			n.call(abi.HookPreCompact, "s1", 0, c.msgs...)
			got := n.recalled("where is the zebra?")
			if c.want == "" && strings.Contains(got, "zebra") || !strings.Contains(got, c.want) {
				t.Errorf("recalled %q, want %q", got, c.want)
			}
		})
	}
}

// TestHindsightFull: a storage that is full is said, with what to do; what is
// there is recalled, and what is new is retained once there is room.
func TestHindsightFull(t *testing.T) {
	features.Proves(t, "K28")
	n := newNative(t)
	n.call(abi.HookPreCompact, "s1", 0, say("a", abi.RoleUser, "The old zebra."))
	n.p.Host.Fail = map[abi.Op]*abi.Error{abi.OpKVSet: {Code: abi.CodeQuota, Message: "more than 67108864 bytes in all"}}
	_, stats := n.call(abi.HookPreCompact, "s1", 0, say("b", abi.RoleUser, "The new zebra."))
	if said := fmt.Sprint(stats.Logs); !strings.Contains(said, "kagewasm memory export hindsight") ||
		!strings.Contains(said, "67108864") {
		t.Errorf("%s", said)
	}
	if got := n.recalled("zebra"); !strings.Contains(got, "old zebra") {
		t.Errorf("recalled %q", got)
	}
	n.p.Host.Fail = nil
	n.call(abi.HookPreCompact, "s1", 0, say("b", abi.RoleUser, "The new zebra."))
	if got := n.recalled("zebra"); !strings.Contains(got, "new zebra") {
		t.Errorf("with room again: %q", got)
	}
}

// TestHindsightCutSecrets: a secret in what a tool was called with, or said,
// is none where the text is cut in it.
func TestHindsightCutSecrets(t *testing.T) {
	features.Proves(t, "K28")
	token := "gh" + "p_" + strings.Repeat("a1B2", 9)
	for _, before := range []int{0, 150, 165, 180, 350, 370, 390, 1500, 1575, 1590, 3150, 3180, 3190, 1 << 20} {
		t.Run(fmt.Sprintf("token after %d bytes", before), func(t *testing.T) {
			text := "zebra" + strings.Repeat(" x", before/2) + " " + token + " ends"
			doc, err := json.Marshal(map[string]string{"command": text})
			if err != nil {
				t.Fatal(err)
			}
			call := say("a", abi.RoleAssistant, "Let me run it.")
			call.ToolCalls = []abi.ToolCall{{ID: "c", Name: "bash", Arguments: string(doc)}}
			result := abi.Message{ID: "r", Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(text)}
			n := newNative(t)
			n.knobs = map[string]any{"retain_tool_calls": true}
			n.call(abi.HookPreCompact, "s1", 0, call, result)
			kept := fmt.Sprint(n.p.Host.KV)
			if !strings.Contains(kept, "bash: zebra") || strings.Contains(kept, token[:8]) {
				t.Errorf("after %d bytes: %q", before, kept)
			}
		})
	}
}

// TestHindsightWhen: the current turn is not over, a dry run is none, and
// turns are counted.
func TestHindsightWhen(t *testing.T) {
	features.Proves(t, "K28")
	msgs := []abi.Message{say("1", abi.RoleUser, "start"), say("2", abi.RoleAssistant, "the old zebra"),
		say("3", abi.RoleUser, "the new zebra")}
	n := newNative(t)
	n.call(abi.HookPreCompact, "s1", 1000, msgs...)
	if got := n.recalled("zebra"); !strings.Contains(got, "old zebra") || strings.Contains(got, "new zebra") {
		t.Errorf("before the turn is over: %q", got)
	}
	n.call(abi.HookPreCompact, "s1", 0, msgs...)
	if got := n.recalled("zebra"); !strings.Contains(got, "new zebra") {
		t.Errorf("where all is to go: %q", got)
	}

	n = newNative(t)
	n.change = func(in *abi.Input) { in.Trigger.DryRun = true }
	if n.call(abi.HookPreCompact, "s1", 0, msgs...); len(n.p.Host.KV) > 0 {
		t.Errorf("a dry run stored %v", n.p.Host.KV)
	}

	n.knobs["backend"] = "server"
	n.p.Host.HTTP = func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
		if !strings.HasSuffix(r.URL, "/recall") {
			t.Errorf("a dry run asks for %s", r.URL)
		}
		return nil, &abi.Error{Code: abi.CodeNetwork, Message: "refused"}
	}
	if n.call(abi.HookPreCompact, "s1", 0, msgs...); len(n.p.Host.KV) > 0 || n.p.Host.Calls[abi.OpHTTP] != 1 {
		t.Errorf("a dry run stored %v, after %d requests", n.p.Host.KV, n.p.Host.Calls[abi.OpHTTP])
	}

	n = newNative(t)
	n.knobs["retain_every_n_turns"] = 3
	for turn := 1; turn <= 3; turn++ {
		n.call(abi.HookTurnEnd, "s1", 0, msgs...)
		if got := strings.Contains(n.recalled("new zebra"), "zebra"); got != (turn == 3) {
			t.Errorf("after turn %d: %v", turn, got)
		}
	}
}

// TestHindsightOnce: what is retained is not retained again, whatever its
// id is by then, and what stands in the context is not recalled.
func TestHindsightOnce(t *testing.T) {
	features.Proves(t, "K28")
	n := newNative(t)
	msgs := []abi.Message{say("1", abi.RoleUser, "start"), say("2", abi.RoleAssistant, "the zebra is fed"),
		say("3", abi.RoleUser, "and the zebra?")}
	n.call(abi.HookPreCompact, "s1", 0, msgs...)
	again := slices.Clone(msgs)
	again[1].ID = "17"
	out, stats := n.call(abi.HookPreCompact, "s1", 1000, again...)
	if slices.ContainsFunc(stats.Logs, func(l abi.LogRequest) bool {
		return strings.Contains(l.Message, "new to the bank")
	}) {
		t.Errorf("retained again: %+v", stats.Logs)
	}
	if out.Inject != "" {
		t.Errorf("it stands there: %q", out.Inject)
	}
	if out, _ = n.call(abi.HookPreCompact, "s1", 1000, again[0], again[2]); !strings.Contains(
		out.Inject, "the zebra is fed") {
		t.Errorf("it is gone, and not recalled: %q", out.Inject)
	}
}

// TestHindsightRepeats: a recording that repeats its messages is remembered as one that does not.
func TestHindsightRepeats(t *testing.T) {
	n := newNative(t)
	once := []abi.Message{
		say("a1", abi.RoleUser, "the gate opens at nine"), say("a2", abi.RoleAssistant, "the gate opens at nine"),
		say("a3", abi.RoleUser, "token ghp_0123456789abcdefghijABCDEFGHIJ012345"),
	}
	var msgs []abi.Message
	for i := range 4 {
		for _, m := range once {
			m.ID += strings.Repeat("x", i)
			msgs = append(msgs, m)
		}
	}
	_, stats := n.call(abi.HookPreCompact, "s", 0, msgs...)
	if got, want := stats.Logs[0].Message, "of 12 messages 3 are new"; !strings.HasPrefix(got, want) {
		t.Errorf("the log says %q, not %q", got, want)
	}
	got := n.recalled("which token, and when does the gate open?")
	if strings.Contains(got, "ghp_") || strings.Count(got, "at nine") != 2 || strings.Contains(got, "x]") {
		t.Errorf("it recalls %q", got)
	}
}

// TestHindsightNotTheQuestion: where all is to go, and is retained, what is
// asked is no answer.
func TestHindsightNotTheQuestion(t *testing.T) {
	features.Proves(t, "K28")
	n := newNative(t)
	n.call(abi.HookPreCompact, "s1", 0, say("1", abi.RoleUser, "start"), say("2", abi.RoleUser, "the zebra is fed"))
	out, _ := n.call(abi.HookPreCompact, "s2", 0, say("3", abi.RoleUser, "hello"),
		say("4", abi.RoleUser, "what of the zebra?"))
	if !strings.Contains(out.Inject, "s1 2]") || strings.Contains(out.Inject, "s2 4]") {
		t.Errorf("%q", out.Inject)
	}
}

// TestHindsightBudget: the block keeps to the lower of both budgets, best
// lines first, and a long memory is shown by the passage that matters.
func TestHindsightBudget(t *testing.T) {
	features.Proves(t, "K28")
	n := newNative(t)
	var msgs []abi.Message
	for i := range 60 {
		msgs = append(msgs, say(fmt.Sprint("m", i), abi.RoleUser,
			fmt.Sprintf("Zebra number %d stands in the pen of row %d.", i, i)))
	}
	msgs = append(msgs, say("long", abi.RoleUser, strings.Repeat("Nothing to see in this part. ", 200)+
		"The okapi hides behind the barn. "+strings.Repeat("Nothing more to say of it. ", 200)))
	n.call(abi.HookPreCompact, "s1", 0, msgs...)
	for _, c := range []struct{ knob, host, want int }{{200, 1500, 200}, {1024, 100, 100}} {
		t.Run(fmt.Sprintf("knob %d, host %d", c.knob, c.host), func(t *testing.T) {
			n.knobs["recall_max_tokens"] = c.knob
			n.change = func(in *abi.Input) { in.Budget.SummaryTokens = c.host }
			got := n.recalled("where is zebra number 7?")
			if len(got)/4 > c.want || len(got)/4 < c.want/2 || !strings.Contains(strings.Split(got+"\n", "\n")[1], "s1 m7]") {
				t.Errorf("%+v: %d tokens: %q", c, len(got)/4, got)
			}
		})
	}
	n.change = nil
	if got := strings.Split(n.recalled("where does the okapi hide?")+"\n", "\n")[1]; !strings.Contains(
		got, "The okapi hides behind the barn") || len(got) > 800 {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

// TestHindsightGrew: where the note alone would cost what goes it has no plan.
func TestHindsightGrew(t *testing.T) {
	for _, tc := range []struct {
		words int
		plans bool
	}{{10, false}, {60, false}, {200, true}} {
		t.Run(fmt.Sprint(tc.words, " words"), func(t *testing.T) {
			out, _ := newNative(t).call(abi.HookPreCompact, "s", 20, say("1", abi.RoleUser, "start"),
				say("2", abi.RoleAssistant, strings.Repeat("word ", tc.words)), say("3", abi.RoleUser, "go on"))
			if (out.Messages != nil) != tc.plans {
				t.Errorf("%+v", out)
			}
		})
	}
}

// TestHindsightQuery: the last message of a person, and as much before it
// as is asked for and fits.
func TestHindsightQuery(t *testing.T) {
	features.Proves(t, "K28")
	n := newNative(t)
	var query string
	n.knobs["backend"] = "server"
	n.p.Host.HTTP = func(r abi.HTTPRequest) (*abi.HTTPResponse, error) {
		if strings.HasSuffix(r.URL, "/recall") {
			var doc struct{ Query string }
			if err := json.Unmarshal(r.Bytes(), &doc); err != nil {
				t.Error(err)
			}
			query = doc.Query
		}
		return &abi.HTTPResponse{Status: 200, Body: `{"results":[]}`}, nil
	}
	msgs := []abi.Message{
		say("1", abi.RoleUser, "first question"), say("2", abi.RoleAssistant, "first answer"),
		say("3", abi.RoleUser, "second question"), say("4", abi.RoleAssistant, "second answer"),
		kind(say("5", abi.RoleUser, "a reminder"), abi.KindSynthetic), say("6", abi.RoleUser, "the last one"),
		say("7", abi.RoleAssistant, "on it"),
	}
	for _, c := range []struct {
		turns, chars int
		want         string
	}{
		{1, 800, "the last one"},
		{2, 800, "user: second question\nassistant: second answer\nthe last one"},
		{2, 50, "assistant: second answer\nthe last one"},
	} {
		t.Run(fmt.Sprintf("%d turns, %d characters", c.turns, c.chars), func(t *testing.T) {
			n.knobs["recall_context_turns"], n.knobs["recall_max_query_chars"] = c.turns, c.chars
			if n.call(abi.HookPreCompact, "s1", 1000, msgs...); query != c.want {
				t.Errorf("%d turns, %d characters: %q, want %q", c.turns, c.chars, query, c.want)
			}
		})
	}
	n.knobs["recall_max_query_chars"] = 2000
	n.p.Host.Count = func(s string) int { return len([]rune(s)) } // a token a character
	n.call(abi.HookPreCompact, "s1", 1000, say("1", abi.RoleUser, strings.Repeat("é", 3000)))
	if k := len([]rune(query)); k >= 500 || k < 400 {
		t.Errorf("a query of %d tokens", k)
	}
}

// TestHindsightWithoutStorage: storage that is denied or full is a line in
// the log.
func TestHindsightWithoutStorage(t *testing.T) {
	features.Proves(t, "K28")
	for _, op := range []abi.Op{abi.OpKVGet, abi.OpKVSet, abi.OpKVList, abi.OpTokensCount} {
		t.Run(string(op), func(t *testing.T) {
			for _, backend := range []string{"embedded", "server"} {
				t.Run(backend, func(t *testing.T) {
					n := newNative(t)
					n.knobs["backend"] = backend
					n.p.Host.Fail = map[abi.Op]*abi.Error{op: {Code: abi.CodeDenied, Message: "no " + string(op)}}
					msgs := []abi.Message{say("1", abi.RoleUser, "start"),
						say("2", abi.RoleAssistant, strings.Repeat("long ", 400)), say("3", abi.RoleUser, "go on")}
					out, stats := n.call(abi.HookPreCompact, "s1", 200, msgs...)
					if !slices.Equal(out.Superseded, []string{"2"}) || out.Unstored != "" {
						t.Errorf("%s, %s: %+v", op, backend, out)
					}
					if op == abi.OpKVSet && !slices.ContainsFunc(stats.Logs, func(l abi.LogRequest) bool {
						return l.Level == abi.LogWarn
					}) {
						t.Errorf("%s, %s: nothing is said: %+v", op, backend, stats.Logs)
					}
				})
			}
		})
	}
}

// TestHindsightUnstored: what could not be retained is said in the answer, at any
// hook and whichever write fails; so is a bank that cannot be read.
func TestHindsightUnstored(t *testing.T) {
	features.Proves(t, "K28")
	full := &abi.Error{Code: abi.CodeInternal, Message: "no space left on device"}
	msgs := []abi.Message{say("1", abi.RoleUser, "start"), say("2", abi.RoleAssistant, strings.Repeat("long ", 400)),
		say("3", abi.RoleUser, "go on")}
	for _, backend := range []string{"embedded", "server"} {
		for _, hook := range []abi.Hook{abi.HookPreCompact, abi.HookTurnEnd} {
			t.Run(backend+" "+string(hook), func(t *testing.T) {
				n := newNative(t)
				n.knobs["backend"] = backend
				n.p.Host.Fail = map[abi.Op]*abi.Error{abi.OpKVSet: full}
				if out, _ := n.call(hook, "s1", 200, msgs...); !strings.Contains(out.Unstored, "no space left") {
					t.Errorf("%+v", out)
				}
				n.p.Host.Fail = nil
				if out, _ := n.call(hook, "s1", 200, msgs...); out.Unstored != "" {
					t.Errorf("with space again: %+v", out)
				}
			})
		}
	}
	n := newNative(t)
	n.call(abi.HookPreCompact, "s1", 200, msgs...)
	for name, root := range map[string]string{"empty": "", "cut": "sealed1 1 "} {
		t.Run("a bank whose root is "+name, func(t *testing.T) {
			n.p.Host.KV["banks/kagewasm/root"] = root
			before := maps.Clone(n.p.Host.KV)
			out, _ := n.call(abi.HookPreCompact, "s2", 200, msgs...)
			if !strings.Contains(out.Unstored, "banks/kagewasm/root") || !maps.Equal(n.p.Host.KV, before) {
				t.Errorf("%q, and %d values of %d", out.Unstored, len(n.p.Host.KV), len(before))
			}
			if !strings.Contains(out.Unstored, "kagewasm memory repair") {
				t.Errorf("%q does not say what to do", out.Unstored)
			}
		})
	}
}

// TestHindsightObserves: with the knob off the cut is the host's.
func TestHindsightObserves(t *testing.T) {
	features.Proves(t, "K6")
	n := newNative(t)
	n.knobs["compact"] = false
	msgs := []abi.Message{say("1", abi.RoleUser, "start"), say("2", abi.RoleAssistant, strings.Repeat("long ", 400)),
		say("3", abi.RoleUser, "go on")}
	if out, _ := n.call(abi.HookPreCompact, "s1", 200, msgs...); out.Compacts() {
		t.Errorf("%+v", out)
	}
}

func TestSharedSessions(t *testing.T) {
	for _, path := range shared.Sessions(t) {
		msgs := shared.Messages(t, path)
		p := &guesttest.Plugin{Plugin: memory.Plugin}
		whole := abitest.NewInput(manifest(), msgs, 0)
		for _, share := range []int{10, 50} {
			t.Run(fmt.Sprintf("%s at %d%%", filepath.Base(path), share), func(t *testing.T) {
				in := abitest.NewInput(manifest(), msgs, whole.Trigger.Tokens*share/100)
				out, _, err := p.Call(t.Context(), in)
				if err == nil && out != nil {
					err = abitest.CheckOutput(manifest(), in, out)
				}
				if err != nil {
					t.Errorf("%s to %d%%: %v", filepath.Base(path), share, err)
				}
			})
		}
	}
}

// TestHindsightSecretForms: in whatever form a secret is told, whoever says it, none of
// it is stored.
func TestHindsightSecretForms(t *testing.T) {
	features.Proves(t, "K28")
	for _, f := range secretforms.Forms(t) {
		t.Run(f.Text, func(t *testing.T) {
			doc, err := json.Marshal(map[string]string{"command": f.Text})
			if err != nil {
				t.Fatal(err)
			}
			call := say("b", abi.RoleAssistant, f.Text)
			call.ToolCalls = []abi.ToolCall{{ID: "c", Name: "bash", Arguments: string(doc)}}
			n := newNative(t)
			n.knobs = map[string]any{"retain_tool_calls": true}
			n.call(abi.HookPreCompact, "s1", 0, say("a", abi.RoleUser, "The zebra.\n"+f.Text), call,
				abi.Message{ID: "r", Role: abi.RoleTool, ToolCallID: "c", Content: abi.Text(f.Text)})
			kept := fmt.Sprint(n.p.Host.KV)
			if !strings.Contains(kept, "zebra") {
				t.Fatal("nothing is kept")
			}
			for _, secret := range f.Secrets {
				line, _, _ := strings.Cut(secret, "\n")
				if at := strings.Index(kept, line); at >= 0 {
					t.Errorf("%q of %q is kept: %q", line, f.Text, kept[max(0, at-60):min(len(kept), at+60)])
				}
			}
		})
	}
}

// TestHindsightEarlierProgress: what an earlier version noted as retained is not retained again.
func TestHindsightEarlierProgress(t *testing.T) {
	n := newNative(t)
	session := []abi.Message{say("a", abi.RoleUser, "The zebra lives in pen 4.")}
	n.call(abi.HookTurnEnd, "s1", 0, session...)
	for key := range n.p.Host.KV {
		delete(n.p.Host.KV, key)
	}
	sum := sha256.Sum256([]byte("user\x00The zebra lives in pen 4."))
	noted := fmt.Sprintf(`{"session":"s1","turns":0,"sent":%q}`, base64.RawURLEncoding.EncodeToString(sum[:6]))
	n.p.Host.KV["progress/embedded/kagewasm/s1.json"] = noted
	n.call(abi.HookTurnEnd, "s1", 0, session...)
	if len(n.p.Host.KV) != 1 {
		t.Errorf("it is retained again: %v", slices.Sorted(maps.Keys(n.p.Host.KV)))
	}
	n.call(abi.HookTurnEnd, "s1", 0, append(session, say("b", abi.RoleUser, "It moved to pen 5."))...)
	if now := n.p.Host.KV["progress/embedded/kagewasm/s1.json"]; !strings.Contains(now, `"marks":"`) ||
		!strings.Contains(now, noted[len(noted)-11:]) {
		t.Errorf("what was noted is %s", now)
	}
	if got := n.recalled("Which zebra moved?"); strings.Contains(got, "pen 4") || !strings.Contains(got, "pen 5") {
		t.Errorf("recalled: %s", got)
	}
}
