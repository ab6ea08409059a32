package transcript_test

import (
	"bytes"
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
	for _, c := range []struct{ file, session, model, want string }{
		{"codex/compacted.jsonl", "0199aaaa-0000-7000-8000-000000000001", "gpt-x",
			"m00000:system/instructions m00001:system m00002:user/instructions m00003:user -m00004:assistant(c1,c2) " +
				"-m00005:tool=c2 -m00006:tool=c1 m00007:user/compaction_summary m00008:user m00009:assistant(c1) m00010:user/synthetic"},
		{"codex/replaced.jsonl", "0199aaaa-0000-7000-8000-000000000002", "",
			"m00000:user -m00001:assistant m00002:user/compaction_summary -m00003:user -m00004:assistant m00005:user"},
		{"codex/odd.jsonl", "", "",
			"m00000:tool=none! m00001:user m00002:assistant(s,t) m00003:tool=t m00004:tool=s m00005:user/compaction_summary " +
				"m00006:user/injected m00007:user/bash m00008:assistant"},
		{"pi/tree.jsonl", "0199bbbb-0000-4000-8000-000000000001", "m-2",
			"-e1:user -e2:assistant(c1,c2) -e3:tool=c2! -e4:tool=c1 -e5:user/synthetic -e8:user/synthetic e9:user e10:assistant " +
				"e11:user/compaction_summary e12:user/bash e13:user/display_only e14:user"},
		{"pi/first-version.jsonl", "0199bbbb-0000-4000-8000-000000000002", "m-2",
			"-m00000:user -m00001:assistant -m00002:user -m00003:user/compaction_summary m00004:assistant(c) m00005:tool=c " +
				"m00006:assistant m00007:user/compaction_summary m00008:user"},
		{"swe-agent/tools.traj", "task-1", "gpt-x",
			"m00000:system m00001:user/meta m00002:user m00003:assistant(c1) m00004:tool=c1 m00005:assistant(c1)"},
		{"swe-agent/text.traj", "", "", "m00000:system m00001:user m00002:assistant m00003:user/console_output"},
		{"openhands/condensed.json", "", "m-1",
			"0:system 1:user 3:user/instructions -4:assistant(c1,c2) -5:tool=c1 -7:tool=c2! -9:user/synthetic " +
				"10:user/compaction_summary -11:assistant 13:user"},
		{"openhands/no-metadata.json", "task-2", "",
			"0:user 1:assistant(event:1) 2:tool=event:1 3:user/bash 4:user/console_output 5:tool=event:99 6:assistant"},
		{"claude-code/compacted.jsonl", "5e55", "claude-x",
			"-u1:user -a2:assistant -u3:user -a4:assistant u6:user/compaction_summary a7:assistant u8:user a9:assistant"},
	} {
		data, err := os.ReadFile(filepath.Join("testdata", c.file))
		if err != nil {
			t.Fatal(err)
		}
		s := read(t, data, transcript.Auto)
		if got := outline(s); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.file, got, c.want)
		}
		if s.ID != c.session || s.Model != c.model {
			t.Errorf("%s: session %q of model %q, want %q and %q", c.file, s.ID, s.Model, c.session, c.model)
		}
	}
}

// A boundary of Claude Code may preserve messages from before it, by their
// chain or by name.
func TestClaudeCodePreserves(t *testing.T) {
	for _, c := range []struct{ why, meta, want string }{
		{"the chain from the tail up to the head", `{"preservedSegment":{"headUuid":"u3","anchorUuid":"y5","tailUuid":"a4"}}`, "-u1 -a2 u3 a4"},
		{"names", `{"preservedMessages":{"uuids":["a2"]}}`, "-u1 a2 -u3 -a4"},
		{"nothing", `{"trigger":"auto"}`, "-u1 -a2 -u3 -a4"},
	} {
		data := bytes.Replace(fixture(t, "compacted.jsonl"), []byte(`"compactMetadata":{"trigger":"auto","preTokens":155116}`),
			[]byte(`"compactMetadata":`+c.meta), 1)
		var got []string
		for _, part := range strings.Fields(outline(read(t, data, transcript.Auto)))[:4] {
			id, _, _ := strings.Cut(part, ":")
			got = append(got, id)
		}
		if have := strings.Join(got, " "); have != c.want {
			t.Errorf("%s: %s, want %s", c.why, have, c.want)
		}
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
			[]string{"+sum", "m00000"}, []string{`"base_instructions":null`, `"role":"developer","content":[{"type":"input_text","text":"You are a careful agent."}]`}, nil},
	} {
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
		if parents[child] != parent {
			t.Errorf("%s hangs on %q, want %q\n%s", child, parents[child], parent, out)
		}
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
		`"forgotten_event_ids":[]`, `"summary_offset":4}`} { // after the system, the task, the recall and the change of state
		if !strings.Contains(out, text) {
			t.Errorf("%s is not there\n%s", text, out)
		}
	}
	if strings.Contains(out, `"id": 12`) {
		t.Errorf("a condensation without a summary is there\n%s", out)
	}
}
