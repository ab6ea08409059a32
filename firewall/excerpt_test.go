package firewall_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/firewall"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/sessiongen"
)

// TestShortenWords: of what a person or the agent wrote the host may leave beginning and end,
// and writes what stands between them itself. Nobody else's words are shortened, and nothing
// that is pinned for what it is, or holds only as a whole.
func TestShortenWords(t *testing.T) {
	features.Proves(t, "K10")
	giant := strings.Repeat("begin ", 100) + strings.Repeat("end ", 100)
	of := func(change func(*abi.Message)) []abi.Message {
		m := abi.Message{ID: "m", Role: abi.RoleUser, Content: abi.Text(giant)}
		change(&m)
		return []abi.Message{m}
	}
	signed := func(with string) func(*abi.Message) {
		return func(m *abi.Message) {
			m.Role = abi.RoleAssistant
			m.Content = abi.Parts(abi.RawPart("text", json.RawMessage(`{`+with+`,"text":`+string(quoted(giant))+`,"type":"text"}`)).
				WithText(giant))
		}
	}
	both := firewall.Excerpt{ID: "m", Head: 6, Tail: 4}
	for _, tc := range []struct {
		why  string
		msgs []abi.Message
		cut  firewall.Excerpt
		want string // of the message's content as JSON; empty where it stays
	}{
		{"beginning, mark and end", of(func(*abi.Message) {}), both,
			`"begin \n[... 990 characters left out here: message m; ask me ...]\nend "`},
		{"of a part the text; all else in it stays", of(func(m *abi.Message) {
			m.Content = abi.Parts(abi.TextPart("hello"), abi.RawPart("text", json.RawMessage(
				`{"cache_control":{"type":"ephemeral"},"text":`+string(quoted(giant))+`,"type":"text"}`)).WithText(giant))
		}), firewall.Excerpt{ID: "m", Part: 1, Head: 6, Tail: 4},
			`[{"type":"text","text":"hello"},{"cache_control":{"type":"ephemeral"},` +
				`"text":"begin \n[... 990 characters left out here: message m; ask me ...]\nend ","type":"text"}]`},
		{"a part that is not there", of(func(m *abi.Message) { m.Content = abi.Parts(abi.TextPart(giant)) }),
			firewall.Excerpt{ID: "m", Part: 1, Head: 6, Tail: 4}, ""},
		{"nothing without an end", of(func(*abi.Message) {}), firewall.Excerpt{ID: "m", Head: 6}, ""},
		{"nothing without a beginning", of(func(*abi.Message) {}), firewall.Excerpt{ID: "m", Tail: 6}, ""},
		{"only to shorten", of(func(*abi.Message) {}), firewall.Excerpt{ID: "m", Head: 500, Tail: 499}, ""},
		{"what is marked stays", of(func(m *abi.Message) {
			m.Meta = abi.Meta{abi.MetaAlwaysKeep: json.RawMessage("true")}
		}), both, ""},
		{"instructions of a project stay", of(func(m *abi.Message) { m.Kind = abi.KindInstructions }), both, ""},
		{"what a command of a person put out is shortened too", of(func(m *abi.Message) { m.Kind = abi.KindBash }), both,
			`"begin \n[... 990 characters left out here: message m; ask me ...]\nend "`},
		{"what a host inserted stays", of(func(m *abi.Message) { m.Kind = abi.KindSummary }), both, ""},
		{"the system's words stay", of(func(m *abi.Message) { m.Role = abi.RoleSystem }), both, ""},
		{"the agent's words", of(func(m *abi.Message) { m.Role = abi.RoleAssistant }), both,
			`"begin \n[... 990 characters left out here: message m; ask me ...]\nend "`},
		{"words of the agent's that are signed stay", of(signed(`"thoughtSignature":"x"`)), both, ""},
		{"and those that something points into", of(signed(`"annotations":[{"start_index":3}]`)), both, ""},
		{"what nothing points into is as good as a text", of(signed(`"annotations":[]`)), both,
			`[{"annotations":[],"text":"begin \n[... 990 characters left out here: message m; ask me ...]\nend ","type":"text"}]`},
		{"what the agent thought stays", of(func(m *abi.Message) {
			m.Role = abi.RoleAssistant
			m.Content = abi.Parts(abi.RawPart("thinking", json.RawMessage(`{"type":"thinking","thinking":`+string(quoted(giant))+`}`)))
		}), both, ""},
		{"output is edited by another rule", of(func(m *abi.Message) { m.Role = abi.RoleTool }), both, ""},
	} {
		t.Run(tc.why, func(t *testing.T) {
			before, tokens := string(sessiongen.JSONL(tc.msgs)), count.Tokens(tc.msgs)
			after, cost, changed := firewall.Shorten(tc.msgs, tokens, []firewall.Excerpt{tc.cut}, "ask me", count)
			if (len(changed) > 0) != (tc.want != "") {
				t.Fatalf("changed %v", changed)
			}
			if got := contentJSON(t, after[0]); tc.want != "" && got != tc.want {
				t.Errorf("%s, want %s", got, tc.want)
			}
			if !reflect.DeepEqual(cost, count.Tokens(after)) || string(sessiongen.JSONL(tc.msgs)) != before {
				t.Error("the cost is not that of the list, or what was given has changed")
			}
		})
	}
}

// TestNoPlanShortensWords: a plan that shortens what a person wrote is refused, in the form of
// the host's own excerpts too.
func TestNoPlanShortensWords(t *testing.T) {
	features.Proves(t, "K10")
	msgs := session()
	giant := abi.Text(strings.Repeat("word ", 300))
	msgs[1].Content = giant
	short, _, _ := firewall.Shorten(msgs, count.Tokens(msgs), []firewall.Excerpt{{ID: "task", Head: 20, Tail: 20}}, "",
		count)
	plan := abi.Plan{Source: source, Edit: []abi.Edit{{ID: "task", Call: abi.EditContent, Text: short[1].Text()}}}
	c := firewall.Case{Messages: msgs, Pinned: make([]bool, len(msgs)), Target: 1, Count: count}
	if _, err := firewall.Apply(c, plan); abi.CodeOf(err) != abi.CodeEdit {
		t.Errorf("an edit: %v", err)
	}
	out := &abi.Output{}
	for i := range short {
		out.Messages = append(out.Messages, abi.OutputMessage{Message: short[i]})
	}
	if _, err := firewall.FromOutput(msgs, out, source); abi.CodeOf(err) != abi.CodeEdit {
		t.Errorf("a compactor's list: %v", err)
	}
}

func quoted(s string) []byte { b, _ := json.Marshal(s); return b }

func contentJSON(t *testing.T, m abi.Message) string {
	t.Helper()
	b, err := m.Content.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
