package transcript_test

import (
	"slices"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/transcript"
)

// TestSystemPromptBehindThePerson: "the system prompt" stands apart where a format has a place for it, and where it is
// in others; what the system says later does not.
func TestSystemPromptBehindThePerson(t *testing.T) {
	features.Proves(t, "K10")
	s := read(t, []byte(`{"id":"u","role":"user","content":"Build it."}
{"id":"s","role":"system","content":"Be careful."}
{"id":"a","role":"assistant","content":"Done."}
{"id":"t","role":"system","content":"It is late."}
{"id":"v","role":"user","content":"And?"}
`), transcript.Neutral)
	apart := []string{"system Be careful.", "user Build it.", "assistant Done.", "user It is late.", "user And?"}
	inPlace := []string{"user Build it.", "system Be careful.", "assistant Done.", "system It is late.", "user And?"}
	for _, to := range transcript.Formats() {
		t.Run(string(to), func(t *testing.T) {
			out := encode(t, s, s.Messages, to)
			if check := providers[to]; check != nil {
				if faults := check(out); len(faults) > 0 {
					t.Errorf("%q\n%s", faults, out)
				}
			}
			again := read(t, out, to)
			var got []string
			for i := range again.Messages {
				got = append(got, string(again.Messages[i].Role)+" "+again.Messages[i].Text())
			}
			want := inPlace
			if to == anthropic || to == gemini {
				want = apart
			}
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			prompt := slices.IndexFunc(again.Messages, func(m abi.Message) bool { return m.Text() == "Be careful." })
			if !abi.Pinned(again.Messages)[prompt] {
				t.Error("it is not pinned any more")
			}
		})
	}
}

// TestDeveloperOfNeutral: of a message a line the role developer alone does not make a chat of OpenAI's; it is system.
func TestDeveloperOfNeutral(t *testing.T) {
	features.Proves(t, "K10")
	const prompt = `{"role":"developer","content":"Be careful."}` + "\n"
	const task = `{"role":"user","content":"Go."}` + "\n"
	const call = `{"role":"assistant","content":"","tool_calls":[{"id":"c","name":"ls","arguments":"{}"}]}` + "\n" +
		`{"role":"tool","tool_call_id":"c","content":"x"}` + "\n"
	for why, c := range map[string]struct {
		data string
		want transcript.Format
	}{
		"with a call":       {prompt + task + call, transcript.Neutral},
		"behind the person": {task + prompt + call, transcript.Neutral},
		"without a call":    {prompt + task, transcript.Neutral},
		"a chat of OpenAI's": {prompt + `{"role":"assistant","content":null,"tool_calls":[` +
			`{"id":"c","type":"function","function":{"name":"ls","arguments":"{}"}}]}` + "\n", openAI},
	} {
		t.Run(why, func(t *testing.T) {
			s := read(t, []byte(c.data), transcript.Auto)
			at := slices.IndexFunc(s.Messages, func(m abi.Message) bool { return m.Text() == "Be careful." })
			if s.Format != c.want || s.Messages[at].Role != abi.RoleSystem || !abi.Pinned(s.Messages)[at] {
				t.Errorf("read as %s: %+v", s.Format, s.Messages)
			}
			if out := encode(t, s, s.Messages, transcript.Same); string(out) != c.data {
				t.Errorf("changed:\n%s", out)
			}
		})
	}
}
