package transcript_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// outline writes a session in short: id:role/kind=call!(calls), and - before
// what is superseded.
func outline(s *transcript.Session) string {
	var all []string
	for _, m := range s.Messages {
		text := m.ID + ":" + string(m.Role)
		if slices.Contains(s.Superseded, m.ID) {
			text = "-" + text
		}
		if m.Kind != "" {
			text += "/" + string(m.Kind)
		}
		if m.Role == abi.RoleTool {
			text += "=" + m.ToolCallID
		}
		if m.IsError {
			text += "!"
		}
		var calls []string
		for _, c := range m.ToolCalls {
			calls = append(calls, c.ID)
		}
		if calls != nil {
			text += "(" + strings.Join(calls, ",") + ")"
		}
		all = append(all, text)
	}
	return strings.Join(all, " ")
}

// Roles, kinds, calls and what is superseded, as each format says them.
func TestOutlines(t *testing.T) {
	for _, c := range []struct{ why, file, want, model, session string }{
		{"each block of the system prompt is a message, and so is each result, in the order it stands in",
			"anthropic/body.json",
			"m00000:system m00001:system m00002:user m00003:assistant(toolu_1,toolu_2) m00004:tool=toolu_2! " +
				"m00005:tool=toolu_1 m00006:user " +
				"m00007:assistant(toolu_3) m00008:tool=toolu_3 m00009:assistant m00010:user", "claude-x", ""},
		{"a call's id may come again", "anthropic/list.json",
			"m00000:user m00001:assistant(t1) m00002:tool=t1 m00003:assistant(t1) m00004:tool=t1 m00005:assistant", "", ""},
		{"the server's compactions are summaries", "anthropic/compacted.json",
			"m00000:system m00001:user m00002:user/compaction_summary m00003:assistant m00004:user " +
				"m00005:user/compaction_summary", "claude-x", ""},
		{"a recording is its latest exchange with messages, the answer included", "anthropic/recording.json",
			"m00000:system m00001:user m00002:assistant(toolu_1) m00003:tool=toolu_1 m00004:assistant", "claude-x-1", ""},
		{"items of one answer are one message", "openai-responses/body.json",
			"m00000:system m00001:system m00002:user rs_1:assistant(call_1,call_2,call_3) m00004:tool=call_2 " +
				"m00005:tool=call_1 m00006:tool=call_3 " +
				"ws_1:assistant(call_4) m00008:tool=call_4 m00009:user", "gpt-x", ""},
		{"an input may be a text", "openai-responses/text.json", "m00000:system m00001:user", "gpt-x", ""},
		{"a compaction item is a summary; words after words are another answer", "openai-responses/compacted.json",
			"cmp_1:user/compaction_summary m00001:user m00002:assistant m00003:assistant", "gpt-x", "conv_1"},
		{"a response alone", "openai-responses/response.json", "msg_1:assistant", "gpt-x-1", ""},
		{"one exchange", "openai-responses/recording.json", "m00000:user rs_1:assistant(call_1)", "gpt-x-1", ""},
		{"calls and responses without ids pair by name", "gemini/body.json",
			"m00000:system m00001:system m00002:user m00003:assistant(1,2) m00004:tool=2! m00005:tool=1 m00006:user " +
				"m00007:assistant(function:note,function:note#2) m00008:tool=function:note " +
				"m00009:tool=function:note#2 m00010:assistant m00011:user", "", ""},
		{"keys in the other case", "gemini/list.json",
			"m00000:user m00001:assistant(function:run) m00002:tool=function:run m00003:assistant m00004:user", "", ""},
		{"a recording names its model", "gemini/recording.json",
			"m00000:system m00001:user m00002:assistant(function:look)", "gemini-x-1", ""},
		{"an entry of the CLI's holds calls and results", "gemini-cli/chat.json",
			"u1:user g1:assistant(write_file-1,write_file-2,write_file-3) g1#2:tool=write_file-1 " +
				"g1#3:tool=write_file-2! g2:assistant u2:user",
			"gemini-x", "f0000000-0000-4000-8000-000000000001"},
		{"a recording of chat completions", "openai/recording.json", "m00000:user m00001:assistant(call_1)", "gpt-x-1", ""},
		{"reasoning is no message, and a compacted entry without its own history keeps instructions and the " +
			"person's words", "codex/compacted.jsonl",
			"m00000:system/instructions m00001:system m00002:user/instructions m00003:user -m00004:assistant(c1,c2) " +
				"-m00005:tool=c2 -m00006:tool=c1 m00007:user/compaction_summary m00008:user m00009:assistant(c1) " +
				"m00010:user/synthetic", "gpt-x", "0199aaaa-0000-7000-8000-000000000001"},
		{"a compacted entry with a history keeps what that repeats; a rollback takes the latest turn", "codex/replaced.jsonl",
			"m00000:user -m00001:assistant m00002:user/compaction_summary -m00003:user -m00004:assistant m00005:user",
			"", "0199aaaa-0000-7000-8000-000000000002"},
		{"a log without a beginning, calls of every sort, results as objects", "codex/odd.jsonl",
			"m00000:tool=none! m00001:user m00002:assistant(s,t) m00003:tool=t m00004:tool=s m00005:user/compaction_summary " +
				"m00006:user/injected m00007:user/bash m00008:assistant", "", ""},
		{"the way to the leaf alone, and what the latest compaction keeps of it", "pi/tree.jsonl",
			"-e1:user -e2:assistant(c1,c2) -e3:tool=c2! -e4:tool=c1 -e5:user/synthetic -e8:user/synthetic e9:user " +
				"e10:assistant " +
				"e11:user/compaction_summary e12:user/bash e13:user/display_only e14:user",
			"m-2", "0199bbbb-0000-4000-8000-000000000001"},
		{"sessions without ids name what is kept by its line", "pi/first-version.jsonl",
			"-m00000:user -m00001:assistant -m00002:user -m00003:user/compaction_summary m00004:assistant(c) m00005:tool=c " +
				"m00006:assistant m00007:user/compaction_summary m00008:user", "m-2", "0199bbbb-0000-4000-8000-000000000002"},
		{"demonstrations are meta", "swe-agent/tools.traj",
			"m00000:system m00001:user/meta m00002:user m00003:assistant(c1) m00004:tool=c1 m00005:assistant(c1)",
			"gpt-x", "task-1"},
		{"without calls the environment speaks as the user", "swe-agent/text.traj",
			"m00000:system m00001:user m00002:assistant m00003:user/console_output", "", ""},
		{"calls of one answer are one message, forgotten events are superseded", "openhands/condensed.json",
			"0:system 1:user 3:user/instructions -4:assistant(c1,c2) -5:tool=c1 -7:tool=c2! -9:user/synthetic " +
				"10:user/compaction_summary -11:assistant 13:user", "m-1", ""},
		{"an action without metadata is a call, which its observation names", "openhands/no-metadata.json",
			"0:user 1:assistant(event:1) 2:tool=event:1 3:user/bash 4:user/console_output 5:tool=event:99 6:assistant",
			"", "task-2"},
		{"what is before a boundary is superseded", "claude-code/compacted.jsonl",
			"-u1:user -a2:assistant -u3:user -a4:assistant u6:user/compaction_summary a7:assistant u8:user " +
				"a9:assistant", "claude-x", "5e55"},
	} {
		t.Run(c.why, func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join("testdata", filepath.FromSlash(c.file)))
			if err != nil {
				t.Fatal(err)
			}
			s := read(t, data, transcript.Auto)
			if got := outline(s); got != c.want {
				t.Errorf("%s: %s:\n got %s\nwant %s", c.why, c.file, got, c.want)
			}
			if s.Model != c.model || s.ID != c.session {
				t.Errorf("%s: model %q, session %q", c.file, s.Model, s.ID)
			}
		})
	}
}

// A boundary of Claude Code may preserve messages from before it, by their
// chain or by name.
func TestClaudeCodePreserves(t *testing.T) {
	for _, c := range []struct{ why, meta, want string }{
		{"the chain from the tail up to the head",
			`{"preservedSegment":{"headUuid":"u3","anchorUuid":"y5","tailUuid":"a4"}}`, "-u1 -a2 u3 a4"},
		{"names", `{"preservedMessages":{"uuids":["a2"]}}`, "-u1 a2 -u3 -a4"},
		{"nothing", `{"trigger":"auto"}`, "-u1 -a2 -u3 -a4"},
	} {
		t.Run(c.why, func(t *testing.T) {
			data := bytes.Replace(fixture(t, "compacted.jsonl"),
				[]byte(`"compactMetadata":{"trigger":"auto","preTokens":155116}`),
				[]byte(`"compactMetadata":`+c.meta), 1)
			var got []string
			for _, part := range strings.Fields(outline(read(t, data, transcript.Auto)))[:4] {
				id, _, _ := strings.Cut(part, ":")
				got = append(got, id)
			}
			if have := strings.Join(got, " "); have != c.want {
				t.Errorf("%s: %s, want %s", c.why, have, c.want)
			}
		})
	}
}

// What stays in a log of Codex when its messages go, and what goes with them.
func TestCodexCompacted(t *testing.T) {
	data, err := os.ReadFile("testdata/codex/compacted.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := read(t, data, transcript.Auto)
	for _, c := range []struct {
		why      string
		keep     []string
		is, gone []string
	}{
		{"reasoning goes with the answer that it led to; the screen's events stay",
			[]string{"m00000", "m00003", "+sum", "m00008"},
			[]string{`"type":"user_message"`, `"type":"token_count"`, `"type":"context_compacted"`, `You are a careful agent.`},
			[]string{`"AAAA"`, `"c1"`, `"type":"compacted"`, `<permissions`}},
		{"a compaction of its own stays where only what it kept is before it",
			[]string{"m00000", "m00001", "m00002", "m00003", "m00007", "m00008"},
			[]string{`"type":"compacted"`}, []string{`"AAAA"`, `"summary_text"`}},
		{"where more is before it, its summary becomes a message",
			[]string{"m00000", "m00003", "m00004", "m00005", "m00006", "m00007", "m00008"},
			[]string{`"AAAA"`, "looked around", `"kind":"compaction_summary"`}, []string{`"type":"compacted"`}},
		{"base instructions that go become null, and the entry stays",
			[]string{"m00003"}, []string{`"type":"session_meta"`, `"base_instructions":null`}, []string{`careful agent`}},
		{"what is new before the base instructions does not come before the session's own entry",
			[]string{"+sum", "m00000"}, []string{`"base_instructions":null`,
				`"role":"developer","content":[{"type":"input_text","text":"You are a careful agent."}]`}, nil},
	} {
		t.Run(c.why, func(t *testing.T) {
			out := string(encode(t, s, keep(s, c.keep...), transcript.Same))
			if !strings.HasPrefix(out, `{"timestamp":"2026-01-02T03:04:05.000Z","type":"session_meta"`) {
				t.Errorf("%s: the first line is another\n%s", c.why, out)
			}
			for _, text := range c.is {
				if !strings.Contains(out, text) {
					t.Errorf("%s: %s is not there\n%s", c.why, text, out)
				}
			}
			for _, text := range c.gone {
				if strings.Contains(out, text) {
					t.Errorf("%s: %s is there\n%s", c.why, text, out)
				}
			}
		})
	}
}

// A compaction written into a session of pi keeps the tree whole, with the
// branches that were left.
func TestPiCompacted(t *testing.T) {
	data, err := os.ReadFile("testdata/pi/tree.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s := read(t, data, transcript.Auto)
	out := encode(t, s, keep(s, "e1", "+sum", "e12", "e14"), transcript.Same)
	parents := make(map[string]string)
	var summary piEntry
	for _, line := range logLines(out)[1:] {
		e := unmarshal[piEntry](t, line)
		if e.ParentID != nil {
			parents[e.ID] = *e.ParentID
		}
		if e.Type == "compaction" {
			summary = e
		}
	}
	if summary.FirstKeptEntryID != "e1" || len(summary.ID) != 8 {
		t.Errorf("the summary: %+v", summary)
	}
	for child, parent := range map[string]string{
		"e1": "e0", "x1": "e1", "x2": "x1", "e7": "e1", summary.ID: "e7", "e12": summary.ID, "e14": "e12",
	} {
		t.Run(child, func(t *testing.T) {
			if parents[child] != parent {
				t.Errorf("%s hangs on %q, want %q\n%s", child, parents[child], parent, out)
			}
		})
	}
	if bytes.Contains(out, []byte(`"label"`)) {
		t.Error("the label of an entry that went is there")
	}
	if again := encode(t, s, keep(s, "e1", "+sum", "e12", "e14"), transcript.Same); !bytes.Equal(out, again) {
		t.Error("the same compaction wrote another session")
	}
	// A session of the first version counts lines.
	data, err = os.ReadFile("testdata/pi/first-version.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	s = read(t, data, transcript.Auto)
	out = encode(t, s, keep(s, "m00001", "m00004", "m00005", "m00007"), transcript.Same)
	if !bytes.Contains(out, []byte(`"summary":"second","firstKeptEntryIndex":1,`)) {
		t.Errorf("the compaction names another first line\n%s", out)
	}
}

// A summary written into an event log names its own place.
func TestOpenHandsCompacted(t *testing.T) {
	data, err := os.ReadFile("testdata/openhands/condensed.json")
	if err != nil {
		t.Fatal(err)
	}
	s := read(t, data, transcript.Auto)
	out := string(encode(t, s, keep(s, "0", "1", "+sum", "13"), transcript.Same))
	for _, text := range []string{`{"id":14,"source":"agent","kind":"compaction_summary","action":"condensation"`,
		`"forgotten_event_ids":[]`, `"summary_offset":4}`} {
		// after the system, the task, the recall and the change of state
		t.Run(fmt.Sprintf("%.40q", text), func(t *testing.T) {
			if !strings.Contains(out, text) {
				t.Errorf("%s is not there\n%s", text, out)
			}
		})
	}
	if strings.Contains(out, `"id": 12`) {
		t.Errorf("a condensation without a summary is there\n%s", out)
	}
}
