package transcript_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/transcript"
)

// twice is a session in which a call is answered by a start and an end, at once and later, and another one late.
const twice = `{"id":"s","role":"system","content":"Be careful."}
{"id":"u","role":"user","content":"Build it."}
{"id":"a","role":"assistant","content":"","tool_calls":[{"id":"c","name":"bash","arguments":"{}"},{"id":"d","name":"ls","arguments":"{}"}]}
{"id":"r1","role":"tool","tool_call_id":"c","content":"started"}
{"id":"r2","role":"tool","tool_call_id":"c","content":"half done"}
{"id":"q","role":"tool","tool_call_id":"d","content":"main.go"}
{"id":"b","role":"assistant","content":"Meanwhile.","tool_calls":[{"id":"e","name":"ls","arguments":"{}"}]}
{"id":"r3","role":"tool","tool_call_id":"c","content":"finished","is_error":true}
{"id":"p","role":"tool","tool_call_id":"e","content":"lib.go"}
{"id":"z","role":"assistant","content":"Done."}
`

// TestSecondResults: "a tool call with all its results", where providers take one of each, right behind the call.
func TestSecondResults(t *testing.T) {
	features.Proves(t, "K9", "complaint 2")
	s := read(t, []byte(twice), transcript.Neutral)
	for _, to := range transcript.Formats() {
		t.Run(string(to), func(t *testing.T) {
			out := encode(t, s, s.Messages, to)
			again := read(t, out, to)
			left := slices.ContainsFunc(transcript.LeftOut(s.Messages, again), func(what string) bool {
				return strings.HasPrefix(what, "second results of calls (2)")
			})
			if to == transcript.Neutral {
				if string(out) != twice || left {
					t.Errorf("changed, or said to be (%t):\n%s", left, out)
				}
				return
			}
			if check := providers[to]; check != nil {
				if faults := check(out); len(faults) > 0 {
					t.Errorf("%q\n%s", faults, out)
				}
			}
			var got []string
			for i := range again.Messages {
				if m := &again.Messages[i]; m.Role == abi.RoleTool {
					got = append(got, m.Text())
				} else if len(m.ToolCalls) > 0 {
					got = append(got, "calls")
				}
			}
			want := []string{"calls", "started\nhalf done\nfinished", "main.go", "calls", "lib.go"}
			if !slices.Equal(got, want) {
				t.Errorf("%q, want %q", got, want)
			}
			if !left {
				t.Errorf("nothing says that results are joined: %q", transcript.LeftOut(s.Messages, again))
			}
		})
	}
}

// TestSecondResponsesByName: "a tool call with all its results", where Gemini's calls and responses have no ids: a
// response goes with the next call of its function, and one too many with the last.
func TestSecondResponsesByName(t *testing.T) {
	features.Proves(t, "K9")
	turn := func(call, result string) string {
		return `{"role":"model","parts":[{"functionCall":{"name":"make"` + call + `}},{"functionCall":{"name":"ls"}},` +
			`{"functionCall":{"name":"make"}}]},{"role":"user","parts":[` + result + `]}`
	}
	response := func(name, says string) string {
		return `{"functionResponse":{"name":"` + name + `","response":{"output":"` + says + `"}}}`
	}
	all := response("make", "first") + "," + response("ls", "main.go") + "," + response("make", "second") + "," +
		response("make", "third") + "," + response("ls", "lib.go")
	for why, call := range map[string]string{"no ids": "", "an id of the call alone": `,"id":"c"`} {
		t.Run(why, func(t *testing.T) {
			body := `{"contents":[{"role":"user","parts":[{"text":"Build it."}]},` + turn(call, all) + `,` +
				turn(call, all) + `]}`
			s := read(t, []byte(body), gemini)
			calls, results := abi.Orphans(s.Messages)
			if len(calls)+len(results) > 0 {
				t.Errorf("without each other: %v, %v", calls, results)
			}
			units, _ := abi.Units(s.Messages)
			if len(units) != 3 || len(units[1]) != 6 || len(units[2]) != 6 {
				t.Errorf("units %v", units)
			}
			if m := s.Messages[1]; s.Messages[2].ToolCallID != m.ToolCalls[0].ID ||
				s.Messages[4].ToolCallID != m.ToolCalls[2].ID || s.Messages[5].ToolCallID != m.ToolCalls[2].ID {
				t.Errorf("calls %+v, results %+v", m.ToolCalls, s.Messages[2:7])
			}
			if out := encode(t, s, s.Messages, gemini); string(out) != body {
				t.Errorf("changed:\n%s", out)
			}
		})
	}
}

// TestSecondResultsAsParts: each of the texts is a part of its own where a result has parts, and what is said twice
// stands there once; a call failed where its last result says so.
func TestSecondResultsAsParts(t *testing.T) {
	features.Proves(t, "K9")
	for why, c := range map[string]struct {
		results []string
		want    []string // the texts: one alone is no part
		failed  bool
	}{
		"both texts":           {[]string{`"started"`, `"finished"`}, []string{"started", "finished"}, false},
		"text behind parts":    {[]string{`[{"type":"text","text":"a"}]`, `"b"`}, []string{"a", "b"}, false},
		"the same again":       {[]string{`"ok"`, `"ok"`}, []string{"ok"}, false},
		"nothing, then a text": {[]string{`""`, `"ok"`}, []string{"ok"}, false},
		"a text, then nothing": {[]string{`"ok"`, `""`}, []string{"ok"}, false},
		"it failed in the end": {[]string{`"started"`, `"failed","is_error":true`}, []string{"started", "failed"}, true},
		"it failed at first":   {[]string{`"busy","is_error":true`, `"ok"`}, []string{"busy", "ok"}, false},
	} {
		t.Run(why, func(t *testing.T) {
			data := `{"role":"user","content":"go"}` + "\n" +
				`{"role":"assistant","content":"","tool_calls":[{"id":"c","name":"f","arguments":"{}"}]}`
			for _, r := range c.results {
				data += "\n" + `{"role":"tool","tool_call_id":"c","content":` + r + `}`
			}
			s := read(t, []byte(data), transcript.Neutral)
			again := read(t, encode(t, s, s.Messages, anthropic), anthropic).Messages
			if len(again) != 3 {
				t.Fatalf("%d messages: %+v", len(again), again)
			}
			got := []string{again[2].Text()}
			if m := again[2].Content; m.IsParts() {
				got = nil
				for _, p := range m.Parts() {
					got = append(got, p.Text)
				}
			}
			if !slices.Equal(got, c.want) || again[2].IsError != c.failed {
				t.Errorf("%q, failed %t, want %q", got, again[2].IsError, c.want)
			}
		})
	}
}
