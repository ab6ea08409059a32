package transcript_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/transcript"
)

// TestLeftOut: what a conversion leaves out is told: thinking, kinds, pins, what is
// for no model, pictures as words, marks of failed calls; and nothing where all is
// kept.
func TestLeftOut(t *testing.T) {
	session := []byte(`{"role":"system","content":"Be careful."}
{"role":"user","content":"Look.","meta":{"always_keep":true}}
{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"I look."}],"tool_calls":[{"id":"a","name":"ls","arguments":"{}"}]}
{"role":"tool","tool_call_id":"a","content":"no such file","is_error":true}
{"role":"user","kind":"synthetic","content":"Reminder."}
{"role":"user","kind":"bookmark","content":"here"}
`)
	for _, tc := range []struct {
		to   transcript.Format
		want []string // how each begins
	}{
		{openAI, []string{"thinking (1 parts)", "kinds of 1 ", "pins of 1 ", "1 messages that are for no model",
			"marks of 1 failed"}},
		{anthropic, []string{"thinking (1 parts)", "kinds of 1 ", "pins of 1 ", "1 messages that are for no model"}},
		{transcript.Neutral, nil},
	} {
		t.Run(string(tc.to), func(t *testing.T) {
			s := read(t, session, transcript.Neutral)
			got := transcript.LeftOut(s.Messages, read(t, encode(t, s, s.Messages, tc.to), tc.to))
			if !slices.EqualFunc(got, tc.want, strings.HasPrefix) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// TestConvertedCallIDsAreUnique: calls of Gemini have no ids of their own, and in the
// forms of others each gets one that no other has, with its result.
func TestConvertedCallIDsAreUnique(t *testing.T) {
	session := []byte(`{"contents":[{"role":"user","parts":[{"text":"Look twice."}]},
{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"one"}}}]},
{"role":"model","parts":[{"functionCall":{"name":"ls","args":{}}}]},
{"role":"user","parts":[{"functionResponse":{"name":"ls","response":{"output":"two"}}}]}]}`)
	reused := []byte(`{"role":"user","content":"Look twice."}
{"role":"assistant","content":"","tool_calls":[{"id":"a","name":"ls","arguments":"{}"}]}
{"role":"tool","tool_call_id":"a","content":"one"}
{"role":"assistant","content":"","tool_calls":[{"id":"a","name":"ls","arguments":"{}"}]}
{"role":"tool","tool_call_id":"a","content":"two"}
`)
	for _, to := range []transcript.Format{openAI, responses, anthropic} {
		for name, s := range map[string]*transcript.Session{
			"calls of gemini": read(t, session, gemini), "ids used twice": read(t, reused, transcript.Neutral),
		} {
			t.Run(string(to)+"/"+name, func(t *testing.T) {
				seen, results := make(map[string]bool), make(map[string]string)
				for _, m := range read(t, encode(t, s, s.Messages, to), to).Messages {
					for _, c := range m.ToolCalls {
						if seen[c.ID] {
							t.Errorf("call %s is there twice", c.ID)
						}
						seen[c.ID] = true
					}
					if m.ToolCallID != "" {
						results[m.ToolCallID] = m.Text()
					}
				}
				if len(seen) != 2 || len(results) != 2 {
					t.Errorf("calls %v, results %v", seen, results)
				}
				for id := range results {
					if !seen[id] {
						t.Errorf("result of %s has no call", id)
					}
				}
			})
		}
	}
}
