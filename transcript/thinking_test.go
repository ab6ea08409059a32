package transcript_test

import (
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// An answer that lost its thinking is written without it, and without another change.
// Agents' own logs keep it.
func TestWithoutThinking(t *testing.T) {
	const thinking = `{"type":"thinking","thinking":"hm","signature":"c2ln"}`
	for _, c := range []struct {
		name, in, want string
		format         transcript.Format
	}{
		{"a body", `{"model":"m","system":"s","messages":[{"role":"user","content":"hi"},
			{"role":"assistant", "content":[` + thinking + `, {"type":"redacted_thinking","data":"x"},{"type":"text", "text":"yes"}]}]}`,
			`{"model":"m","system":"s","messages":[{"role":"user","content":"hi"},
			{"role":"assistant", "content":[{"type":"text", "text":"yes"}]}]}`, "anthropic"},
		{"between calls of a body", `{"system":"s","messages":[{"role":"user","content":"hi"},{"role":"assistant",` +
			`"content":[` +
			`{"type":"text","text":"a"},` + thinking + `,{"type":"tool_use","id":"t","name":"f","input":{ }}]}]}`,
			`{"system":"s","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[` +
				`{"type":"text","text":"a"},{"type":"tool_use","id":"t","name":"f","input":{ }}]}]}`, "anthropic"},
		{"nothing but thinking", `{"system":"s","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[` +
			thinking + `]}]}`, `{"system":"s","messages":[{"role":"user","content":"hi"},{"role":"assistant","content":[` +
			`{"type":"text","text":"(no content)"}]}]}`, "anthropic"},
		{"neutral", `{"role":"user","content":"hi"}` + "\n" +
			`{"x":1,"role":"assistant","content":[` + thinking + `,{"type":"text","text":"yes"}]}` + "\n",
			`{"role":"user","content":"hi"}` + "\n" + `{"x":1,"role":"assistant","content":[{"type":"text",` +
				`"text":"yes"}]}` + "\n",
			transcript.Neutral},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := bare(t, c.in, c.format)
			if got := string(encode(t, s, s.Messages, transcript.Same)); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
			if s.KeepsThinking(transcript.Same) {
				t.Error("it says that thinking stays")
			}
		})
	}
	t.Run("an agent's own log", func(t *testing.T) {
		const log = `{"type":"user","uuid":"u","message":{"role":"user","content":"hi"}}` + "\n" +
			`{"parentUuid":"u","type":"assistant","uuid":"a","message":{"role":"assistant","content":[` + thinking +
			`,{"type":"text","text":"yes"}]}}` + "\n"
		s := bare(t, log, claudeCode)
		if got := string(encode(t, s, s.Messages, transcript.Same)); got != log {
			t.Errorf("changed to %s", got)
		}
		if !s.KeepsThinking(transcript.Same) || s.KeepsThinking(transcript.Neutral) {
			t.Error("it says that thinking goes, or that it stays in another format")
		}
	})
}

// bare reads a file, and takes the thinking off its answers.
func bare(t *testing.T, file string, format transcript.Format) *transcript.Session {
	t.Helper()
	s := read(t, []byte(file), format)
	lost := 0
	for i := range s.Messages {
		m, had := s.Messages[i].WithoutThinking()
		if s.Messages[i] = m; had {
			lost++
		}
	}
	if lost != 1 {
		t.Fatalf("%d answers with thinking, want 1", lost)
	}
	return s
}

// What an answer says is nobody's to change, beside its thinking.
func TestThinkingAlone(t *testing.T) {
	s := read(t, []byte(`{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},`+
		`{"type":"text","text":"yes"}]}`), transcript.Neutral)
	s.Messages[0].Content = abi.Parts(abi.TextPart("no"))
	if _, err := s.Encode(s.Messages, transcript.Same); err == nil || !strings.Contains(err.Error(), "can change") {
		t.Errorf("%v: another text was taken", err)
	}
}
