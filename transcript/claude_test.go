package transcript_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/transcript"
)

// entry is what Claude Code goes by when it loads a log.
type entry struct {
	UUID             string
	ParentUUID       *string
	Type, Subtype    string
	IsSidechain      bool
	IsMeta           bool
	IsCompactSummary bool
	Message          *struct {
		ID      string
		Content any
	}
}

func entries(tb rapid.TB, log []byte) (list []entry) {
	for line := range bytes.SplitSeq(bytes.TrimPrefix(log, []byte("\ufeff")), []byte("\n")) {
		if line = bytes.TrimSpace(line); len(line) > 0 {
			list = append(list, unmarshal[entry](tb, line))
		}
	}
	return list
}

// checkChain follows the chain as Claude Code does. Every parent that a line
// names stands before it, and every new entry is an ancestor of all that comes
// after it.
func checkChain(tb rapid.TB, log []byte) {
	tb.Helper()
	list := entries(tb, log)
	seen := make(map[string]int)
	var inserted []string
	above := make(map[string]map[string]bool) // new entries above each line
	for i, e := range list {
		if e.ParentUUID == nil {
			if e.Message != nil && !e.IsSidechain && len(inserted) > 0 && e.UUID != "" && i > 0 && !isNew(e) && e.UUID != "d" {
				tb.Fatalf("line %d: %s begins a chain of its own after a new entry", i+1, e.UUID)
			}
		} else if _, ok := seen[*e.ParentUUID]; !ok && *e.ParentUUID != "of-another-file" {
			tb.Fatalf("line %d: the parent %s of %s is not there\n%s", i+1, *e.ParentUUID, e.UUID, log)
		}
		mine := make(map[string]bool)
		if e.ParentUUID != nil {
			for id := range above[*e.ParentUUID] {
				mine[id] = true
			}
		}
		if e.ParentUUID != nil && e.Message != nil && !e.IsSidechain && *e.ParentUUID != "of-another-file" {
			for _, id := range inserted {
				if !mine[id] {
					tb.Fatalf("line %d: %s passes by the new entry %s\n%s", i+1, e.UUID, id, log)
				}
			}
		}
		if isNew(e) {
			inserted = append(inserted, e.UUID)
			mine[e.UUID] = true
		}
		if e.UUID != "" {
			seen[e.UUID], above[e.UUID] = i, mine
		}
	}
}

// isNew tells the entries that the tests add: they alone are framed.
func isNew(e entry) bool {
	if e.Message == nil {
		return false
	}
	text, ok := e.Message.Content.(string)
	return ok && (strings.HasPrefix(text, "<compaction_summary-") || strings.HasPrefix(text, "<injected-"))
}

// byUUID indexes a log.
func byUUID(tb rapid.TB, log []byte) map[string]entry {
	m := make(map[string]entry)
	for _, e := range entries(tb, log) {
		m[e.UUID] = e
	}
	return m
}

func fixture(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "claude-code", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// keep returns the messages with the given ids; "+ID" is a new summary.
func keep(s *transcript.Session, ids ...string) (list []abi.Message) {
	for _, id := range ids {
		if name, ok := strings.CutPrefix(id, "+"); ok {
			list = append(list, abi.Message{ID: name, Role: abi.RoleUser, Kind: abi.KindSummary,
				Content: abi.Text(abi.Fence(abi.KindSummary, "test", "", name))})
		}
		for _, m := range s.Messages {
			if m.ID == id {
				list = append(list, m)
			}
		}
	}
	return list
}

// The messages of a log: one answer of the model is one message over all its
// lines, results and words are told apart, and the log's marks are kinds.
func TestClaudeCodeMessages(t *testing.T) {
	for name, want := range map[string]string{
		"parallel.jsonl": "u1:user/meta u2:user a3:assistant(t1,t2) u7:tool=t1 u9:tool=t2! a10:assistant " +
			"u12:user a13:assistant/synthetic u14:user a15:assistant(t9)",
		"several-results.jsonl": "u1:user a2:assistant(x,y,z) u3:tool=x u3#2:tool=y u3#3:tool=z u3#4:user a4:assistant",
		"compacted.jsonl": "u1:user a2:assistant u3:user a4:assistant u6:user/compaction_summary " +
			"a7:assistant u8:user a9:assistant",
		"sidechain.jsonl": "u1:user a2:assistant(t1) u3:tool=t1 a4:assistant",
		"subagent.jsonl":  "s1:user s2:assistant(t1) s3:tool=t1 s4:assistant",
		"odd.jsonl":       "m00000:user d:assistant m00002:user e:user",
	} {
		t.Run(name, func(t *testing.T) {
			s := read(t, fixture(t, name), transcript.Auto)
			var got []string
			for _, m := range s.Messages {
				text := m.ID + ":" + string(m.Role)
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
				got = append(got, text)
			}
			if have := strings.Join(got, " "); have != want {
				t.Errorf("%s:\n got %s\nwant %s", name, have, want)
			}
		})
	}
	s := read(t, fixture(t, "parallel.jsonl"), transcript.Auto)
	if s.Model != "claude-x" || s.ID != "5e55" {
		t.Errorf("model %q, session %q", s.Model, s.ID)
	}
	parts := s.Messages[2].Content.Parts()
	if len(parts) != 2 || parts[0].Type != "thinking" || parts[1].Text != "I will." {
		t.Errorf("the answer over four lines says %+v", s.Messages[2].Content)
	}
}

// After a compaction the log is one chain again, through the new summary, and
// what belonged to the messages that went is gone too.
func TestClaudeCodeCompacted(t *testing.T) {
	s := read(t, fixture(t, "parallel.jsonl"), transcript.Auto)
	out := encode(t, s, keep(s, "u2", "+sum", "u14", "a15"), transcript.Same)
	log := byUUID(t, out)
	sum := entries(t, out)[5]
	if !sum.IsCompactSummary || sum.ParentUUID == nil || *sum.ParentUUID != "u2" {
		t.Errorf("the summary: %+v\n%s", sum, out)
	}
	if e := log["u14"]; e.ParentUUID == nil || *e.ParentUUID != sum.UUID {
		t.Errorf("what follows the summary hangs on %v", e.ParentUUID)
	}
	if e := log["u2"]; e.ParentUUID == nil || *e.ParentUUID != "p0" {
		t.Errorf("the first message of the chain hangs on %v, and p0, above the meta entry, is there", e.ParentUUID)
	}
	for uuid, there := range map[string]bool{"p0": true, "u1": false, "p6": false, "y11": false, "a3": false,
		"a8": false} {
		t.Run(uuid, func(t *testing.T) {
			if _, ok := log[uuid]; ok != there {
				t.Errorf("there is %v, want %v", ok, there)
			}
		})
	}
	for _, text := range []string{`"type":"summary"`, `"messageId":"u2"`, `"queue-operation"`, `"cwd":"/w"`,
		`"isVisibleInTranscriptOnly":true`} {
		t.Run(text, func(t *testing.T) {
			if !bytes.Contains(out, []byte(text)) {
				t.Errorf("%s is not there\n%s", text, out)
			}
		})
	}
	if again := encode(t, s, keep(s, "u2", "+sum", "u14", "a15"), transcript.Same); !bytes.Equal(out, again) {
		t.Error("the same compaction wrote another log")
	}
}

// Claude Code sees nothing from before its own compact_boundary, so the
// boundary goes when anything stays or comes before it, and stays otherwise.
func TestClaudeCodeBoundary(t *testing.T) {
	for _, c := range []struct {
		why      string
		keep     []string
		boundary bool
		parents  map[string]string // "" is none
	}{
		{"a pinned message from before it", []string{"u1", "+sum", "u8", "a9"}, false, map[string]string{"u8": "+sum",
			"a9": "u8"}},
		{"its summary, without it", []string{"u1", "u6", "a7"}, false, map[string]string{"u6": "u1", "a7": "u6"}},
		{"only what comes after it", []string{"u6", "a7", "u8"}, true, map[string]string{"u6": "y5"}},
		{"a new summary in place of the old one", []string{"+sum", "u8", "a9"}, true, map[string]string{"u8": "+sum",
			"+sum": "y5"}},
	} {
		t.Run(c.why, func(t *testing.T) {
			s := read(t, fixture(t, "compacted.jsonl"), transcript.Auto)
			out := encode(t, s, keep(s, c.keep...), transcript.Same)
			log := byUUID(t, out)
			if _, ok := log["y5"]; ok != c.boundary {
				t.Errorf("%s: the boundary is there: %v", c.why, ok)
			}
			name := map[string]string{} // what the new entry is called
			for _, e := range entries(t, out) {
				if isNew(e) {
					name["+sum"] = e.UUID
				}
			}
			for child, parent := range c.parents {
				if id, ok := name[child]; ok {
					child = id
				}
				if id, ok := name[parent]; ok {
					parent = id
				}
				if e := log[child]; e.ParentUUID == nil || *e.ParentUUID != parent {
					t.Errorf("%s: %s hangs on %v, want %s\n%s", c.why, child, e.ParentUUID, parent, out)
				}
			}
		})
	}
}

// Of a line with several results those that stay are left, byte for byte.
func TestClaudeCodeSharedLine(t *testing.T) {
	s := read(t, fixture(t, "several-results.jsonl"), transcript.Auto)
	out := encode(t, s, keep(s, "u1", "u3", "u3#3", "a4"), transcript.Same)
	if !bytes.Contains(out,
		[]byte(`"content":[{"tool_use_id":"x","type":"tool_result","content":"1"} , {"type":"tool_result",`+
			`"tool_use_id":"z"}]`)) {
		t.Errorf("the line is\n%s", out)
	}
	if log := byUUID(t, out); *log["u3"].ParentUUID != "u1" || *log["a4"].ParentUUID != "u3" {
		t.Errorf("the chain is\n%s", out)
	}
}

// A subagent's entries go with the call that they ran for.
func TestClaudeCodeSidechain(t *testing.T) {
	s := read(t, fixture(t, "sidechain.jsonl"), transcript.Auto)
	for _, c := range []struct {
		why  string
		keep []string
		side bool
	}{
		{"the call stays", []string{"u1", "a2", "u3"}, true},
		{"the call goes", []string{"u1", "a4"}, false},
	} {
		t.Run(c.why, func(t *testing.T) {
			out := encode(t, s, keep(s, c.keep...), transcript.Same)
			if _, ok := byUUID(t, out)["s2"]; ok != c.side {
				t.Errorf("kept %v: the subagent's entries are there: %v", c.keep, ok)
			}
		})
	}
}
