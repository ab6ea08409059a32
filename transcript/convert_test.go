package transcript_test

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/transcript"
)

// The neutral form holds all that a message has: what is read from it again is
// what was read from the source, ids included.
func TestToNeutralLosesNothing(t *testing.T) {
	for _, s := range samples(t) {
		t.Run(string(s.format)+"/"+s.name, func(t *testing.T) {
			if s.format == transcript.Neutral {
				return // written as it is; see TestUntouchedIsByteExact
			}
			got := read(t, s.data, s.format)
			again := read(t, encode(t, got, got.Messages, transcript.Neutral), transcript.Auto)
			sameMessages(t, got.Messages, again.Messages)
			for i := range got.Messages {
				if m, n := got.Messages[i], again.Messages[i]; m.ID != n.ID || m.Timestamp != n.Timestamp || m.Name != n.Name {
					t.Fatalf("message %d: %q %q %q, was %q %q %q", i, n.ID, n.Timestamp, n.Name, m.ID, m.Timestamp, m.Name)
				}
			}
			if (got.Tools == nil) != (again.Tools == nil) {
				t.Error("the tool definitions went")
			}
		})
	}
}

// Between any two formats roles, texts, calls and pairs survive, and neither
// gains a message. What is for no model is left to the neutral form.
func TestConversionsKeepWhatBothHold(t *testing.T) {
	for _, s := range samples(t) {
		if len(s.data) > 400_000 {
			continue
		}
		got := read(t, s.data, s.format)
		for _, to := range transcript.Formats() {
			if to == s.format {
				continue
			}
			t.Run(string(to)+"/"+s.name, func(t *testing.T) {
				out := encode(t, got, got.Messages, to)
				held := got.Messages
				if to != transcript.Neutral {
					held = slices.DeleteFunc(slices.Clone(held), func(m abi.Message) bool { return m.Kind.Internal() })
					held = oneResultEach(held)
				}
				want, again := foldAnswers(to, held), foldAnswers(to, read(t, out, to).Messages)
				if len(again) != len(want) {
					t.Fatalf("%d messages, want %d\n%s", len(again), len(want), clip(out))
				}
				talk := false // what comes now is no system prompt
				made := make(map[string]bool)
				for i := range want {
					m := want[i]
					talk = talk || m.Role != abi.RoleSystem
					if talk && m.Role == abi.RoleSystem && (to == anthropic || to == gemini) {
						m.Role = abi.RoleUser
					}
					sameHeld(t, &m, &again[i], to, made)
				}
			})
		}
	}
}

// oneResultEach puts the results of each call behind the message that made it, one of each: it looks back from each
// result for the last message that calls with its id.
func oneResultEach(msgs []abi.Message) (list []abi.Message) {
	behind := make(map[int][]abi.Message) // results, by the message that calls
	for i, m := range msgs {
		at := i
		for at--; m.Role == abi.RoleTool && at >= 0; at-- {
			if slices.ContainsFunc(msgs[at].ToolCalls, func(c abi.ToolCall) bool { return c.ID == m.ToolCallID }) {
				break
			}
		}
		if m.Role != abi.RoleTool || at < 0 {
			behind[i] = append([]abi.Message{m}, behind[i]...)
			continue
		}
		open := 0
		for _, c := range msgs[at].ToolCalls {
			if c.ID == m.ToolCallID {
				open++
			}
		}
		var first *abi.Message // of the last call with that id
		for k := range behind[at] {
			if r := &behind[at][k]; r.Role == abi.RoleTool && r.ToolCallID == m.ToolCallID {
				first, open = r, open-1
			}
		}
		if open > 0 {
			behind[at] = append(behind[at], m)
			continue
		}
		first.Content = abi.Parts(append(partsOf(first.Content), partsOf(m.Content)...)...)
	}
	for i := range msgs {
		list = append(list, behind[i]...)
	}
	return list
}

// foldAnswers makes one message of answers in a row that a format cannot tell
// apart: see the codecs.
func foldAnswers(f transcript.Format, msgs []abi.Message) []abi.Message {
	for {
		out := foldPairs(f, msgs)
		if len(out) == len(msgs) {
			return out
		}
		msgs = out
	}
}

func foldPairs(f transcript.Format, msgs []abi.Message) (out []abi.Message) {
	for _, m := range msgs {
		n := len(out) - 1
		if n < 0 || m.Role != abi.RoleAssistant || out[n].Role != abi.RoleAssistant || !folds(f, &out[n], &m) {
			out = append(out, m)
			continue
		}
		parts := append(partsOf(out[n].Content), partsOf(m.Content)...)
		if out[n].Content = abi.Parts(parts...); len(parts) == 0 {
			out[n].Content = abi.Content{}
		} else if len(parts) == 1 && parts[0].Type == "text" {
			out[n].Content = abi.Text(parts[0].Text)
		}
		out[n].ToolCalls = append(slices.Clone(out[n].ToolCalls), m.ToolCalls...)
	}
	return out
}

func folds(f transcript.Format, m, next *abi.Message) bool {
	switch f {
	case gemini:
		return len(m.ToolCalls) == 0 && len(next.ToolCalls) > 0
	case responses:
		spoken := !m.Content.IsParts() || len(m.ToolCalls) > 0
		for _, p := range m.Content.Parts() {
			spoken = spoken || p.Type == "text"
		}
		return !spoken || len(next.ToolCalls) > 0 && len(partsOf(next.Content)) == 0
	}
	return false
}

func partsOf(c abi.Content) []abi.Part {
	if !c.IsParts() && c.Text() != "" {
		return []abi.Part{abi.TextPart(c.Text())}
	}
	return slices.Clone(c.Parts())
}

// refused tells the ids of calls that a provider would not take, and ids that
// it takes once only; such calls get another id.
func refused(to transcript.Format, id string, again bool) bool {
	switch to {
	case anthropic:
		return again || !regexp.MustCompile(`^[a-zA-Z0-9_-]+$`).MatchString(id)
	case openAI:
		return again || len(id) == 0 || len(id) > 40
	case responses:
		return again || len(id) == 0 || len(id) > 64
	}
	return id == ""
}

func sameHeld(t *testing.T, m, n *abi.Message, to transcript.Format, made map[string]bool) {
	t.Helper()
	text := strings.TrimSpace(m.Text()) != "" // what stands for other parts is for TestPartsAreTranslated
	for _, p := range m.Content.Parts() {
		text = text && slices.Contains([]string{"text", "thinking", "redacted_thinking", "reasoning"}, p.Type)
	}
	sameID := n.ToolCallID == m.ToolCallID || refused(to, m.ToolCallID, made[m.ToolCallID])
	if n.Role != m.Role || text && m.Text() != n.Text() || !sameID || len(n.ToolCalls) != len(m.ToolCalls) {
		t.Fatalf("%s:\n got %+v\nwant %+v", m.ID, *n, *m)
	}
	for i, c := range m.ToolCalls {
		d := n.ToolCalls[i]
		again := made[c.ID]
		if _, ok := made[c.ID]; ok {
			made[c.ID] = true // from now on
			again = true
		} else {
			made[c.ID] = false
		}
		if c.ID != d.ID && !refused(to, c.ID, again) || c.Name != d.Name ||
			(to == openAI || to == responses) && c.Arguments != d.Arguments {
			t.Fatalf("%s: call %+v, want %+v", m.ID, d, c)
		}
	}
}

func TestPartsAreTranslated(t *testing.T) {
	const log = `{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"text","text":"see"},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},` +
		`{"type":"sculpture","of":"stone"}]}}
{"type":"assistant","uuid":"a","message":{"id":"m","role":"assistant","content":[` +
		`{"type":"thinking","thinking":"hm","signature":"s"},{"type":"text","text":"I see"},` +
		`{"type":"tool_use","id":"t","name":"shot","input":{}}]}}
{"type":"user","uuid":"r","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[` +
		`{"type":"text","text":"shot"},{"type":"image","source":{"type":"url","url":"https://example.org/a.png"}}]}]}}
`
	s := read(t, []byte(log), transcript.Auto)
	var chat struct {
		Messages []struct {
			Content json.RawMessage
		}
	}
	out := encode(t, s, s.Messages, openAI)
	if err := json.Unmarshal(out, &chat); err != nil {
		t.Fatal(err)
	}
	for i, c := range []struct{ why, want string }{
		{"an image is an image in both, a part that chat does not know is named",
			`[{"type":"text","text":"see"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}},` +
				`{"type":"text","text":"[sculpture]"}]`},
		{"thinking has no place in chat messages", `[{"type":"text","text":"I see"}]`},
		{"a chat tool message is text", `"shot\n[image]"`},
	} {
		t.Run(c.why, func(t *testing.T) {
			if got := string(chat.Messages[i].Content); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.why, got, c.want)
			}
		})
	}
	// And back: the image is the block that it was.
	back := read(t, out, openAI)
	again := read(t, encode(t, back, back.Messages, claudeCode), transcript.Auto)
	if p, q := s.Messages[0].Content.Parts(), again.Messages[0].Content.Parts(); len(p) != len(q) ||
		!abi.Parts(p[1]).Equal(abi.Parts(q[1])) {
		t.Errorf("the image came back as %+v", q)
	}
}

// An image that a person sent is the same image after a way through any other
// format.
func TestImagesSurvive(t *testing.T) {
	const log = `{"type":"user","uuid":"u","message":{"role":"user","content":[{"type":"text","text":"see"},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}}]}}`
	s := read(t, []byte(log), transcript.Auto)
	for _, to := range transcript.Formats() {
		t.Run(string(to), func(t *testing.T) {
			if to == claudeCode {
				return
			}
			there := read(t, encode(t, s, s.Messages, to), to)
			again := read(t, encode(t, there, there.Messages, claudeCode), transcript.Auto)
			if !again.Messages[0].Content.Equal(s.Messages[0].Content) {
				t.Errorf("%s: %+v became %+v", to, s.Messages[0].Content, again.Messages[0].Content)
			}
		})
	}
}

func TestIDs(t *testing.T) {
	for _, c := range []struct {
		why, data string
		want      []string
	}{
		{"no ids: positional ones", "{\"role\":\"user\",\"content\":\"a\"}\n{\"role\":\"user\",\"content\":\"b\"}",
			[]string{"m00000", "m00001"}},
		{"the first of two keeps an id", "{\"role\":\"user\",\"id\":\"x\"}\n{\"role\":\"user\",\"id\":\"x\"}",
			[]string{"x", "m00001"}},
		{"a positional id is never one that is there",
			"{\"role\":\"user\"}\n{\"role\":\"user\",\"id\":\"m00000\"}\n{\"role\":\"user\",\"id\":\"m00000.1\"}",
			[]string{"m00000.2", "m00000", "m00000.1"}},
		{"results on one line share its uuid",
			`{"type":"user","uuid":"u","message":{"content":[{"type":"tool_result","tool_use_id":"a"},` +
				`{"type":"tool_result","tool_use_id":"b"},{"type":"text","text":"c"}]}}`,
			[]string{"u", "u#2", "u#3"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := read(t, []byte(c.data), transcript.Auto)
			var got []string
			for _, m := range s.Messages {
				got = append(got, m.ID)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("%s: %q, want %q", c.why, got, c.want)
			}
			if out := encode(t, s, s.Messages[:1], transcript.Same); strings.Contains(string(out),
				"m0000") && !strings.Contains(c.data, "m0000") {
				t.Errorf("%s: a positional id was written: %s", c.why, out)
			}
		})
	}
}

// What each format has no place for is what the package's documentation says.
func TestConversionsLoseWhatIsDocumented(t *testing.T) {
	const file = `{"tools":[{"name":"ls"}]}
{"id":"s","role":"system","content":"be brief","timestamp":"2026-01-02T03:04:05Z"}
{"id":"u","role":"user","content":"fix it","timestamp":"2026-01-02T03:04:06Z"}
{"id":"b","role":"user","kind":"bash","content":"ran ls","timestamp":"2026-01-02T03:04:07Z"}
{"id":"k","role":"user","kind":"compaction_summary","content":"so far","timestamp":"2026-01-02T03:04:08Z"}
{"id":"a","role":"assistant","content":"","tool_calls":[{"id":"c","name":"ls","arguments":"{}"}],` +
		`"timestamp":"2026-01-02T03:04:09Z"}
{"id":"r","role":"tool","tool_call_id":"c","name":"ls","is_error":true,"content":"no",` +
		`"timestamp":"2026-01-02T03:04:10Z"}
`
	const session = "0199aaaa-0000-7000-8000-000000000009"
	for to, kept := range map[transcript.Format]string{
		transcript.Neutral: "ids times bash summary failed name tools",
		openAI:             "name tools model",
		responses:          "tools model",
		anthropic:          "failed tools model",
		gemini:             "failed name tools model",
		geminiCLI:          "failed name model session",
		claudeCode:         "times summary failed model session",
		codex:              "times bash summary model session",
		pi:                 "times bash summary failed name model session",
		sweAgent:           "bash summary model session",
		openHands:          "times bash summary failed name tools model",
	} {
		t.Run(string(to), func(t *testing.T) {
			s := read(t, []byte(file), transcript.Auto)
			s.Model, s.ID = "m", session
			again := read(t, encode(t, s, s.Messages, to), to)
			m := again.Messages
			var got []string
			for _, c := range []struct {
				what string
				held bool
			}{
				{"ids", m[0].ID == "s" && m[5].ID == "r"},
				{"times", m[5].Timestamp == "2026-01-02T03:04:10Z"},
				{"bash", m[2].Kind == abi.KindBash},
				{"summary", m[3].Kind == abi.KindSummary},
				{"failed", m[5].IsError},
				{"name", m[5].Name == "ls"},
				{"tools", again.Tools != nil},
				{"model", again.Model == "m"},
				{"session", again.ID == session},
			} {
				if c.held {
					got = append(got, c.what)
				}
			}
			if have := strings.Join(got, " "); have != kept {
				t.Errorf("%s keeps %q, documented is %q", to, have, kept)
			}
		})
	}
}

// Messages that are for no model get into no body that a model is sent, nor do the
// results of calls in them; the neutral form keeps all.
func TestInternalMessagesAreForNoModel(t *testing.T) {
	features.Proves(t, "A3", "A4")
	var data strings.Builder
	for _, line := range []string{
		`{"id":"u","role":"user","content":"Go on."}`,
		`{"id":"a","role":"assistant","kind":"display_only","content":"hidden1","tool_calls":[{"id":"c1","name":"show",` +
			`"arguments":"{\"text\":\"hidden2\"}"}]}`,
		`{"id":"t","role":"tool","tool_call_id":"c1","content":"hidden3"}`,
		`{"id":"b","role":"user","kind":"bookmark","content":"hidden4"}`,
		`{"id":"m","role":"user","kind":"metadata","content":[{"type":"text","text":"hidden5"}]}`,
		`{"id":"d","role":"tool","kind":"display_only","tool_call_id":"c2","content":"hidden6"}`,
		`{"id":"z","role":"assistant","content":"Done."}`,
	} {
		data.WriteString(line + "\n")
	}
	s := read(t, []byte(data.String()), transcript.Neutral)
	for _, to := range transcript.Formats() {
		t.Run(string(to), func(t *testing.T) {
			out := string(encode(t, s, s.Messages, to))
			if want := map[bool]int{true: 6}[to == transcript.Neutral]; strings.Count(out, "hidden") != want {
				t.Errorf("%d are there, want %d:\n%s", strings.Count(out, "hidden"), want, out)
			}
			if !strings.Contains(out, "Go on.") || !strings.Contains(out, "Done.") {
				t.Errorf("what was said is gone:\n%s", out)
			}
		})
	}
}
