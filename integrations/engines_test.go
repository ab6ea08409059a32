package integrations_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/agenttest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/transcript"
)

// drive installs the plug of an agent and runs a script of testdata over it, by an interpreter that is on the machine.
func drive(t *testing.T, agent, interpreter, script, plug string, input, output any) *agenttest.Home {
	t.Helper()
	if _, err := exec.LookPath(interpreter); err != nil {
		t.Skipf("there is no %s to drive the plug of %s", interpreter, agent)
	}
	kagewasm := agenttest.Kagewasm(t)
	h := agenttest.NewHome(t, kagewasm)
	h.Must(t, kagewasm, "install", agent)
	again(t, h, interpreter, script, plug, input, output)
	return h
}

// again runs the script once more.
func again(t *testing.T, h *agenttest.Home, interpreter, script, plug string, input, output any) {
	t.Helper()
	stdin, err := json.Marshal(input)
	if err != nil {
		t.Fatal(err)
	}
	out := h.RunWith(t, string(stdin), interpreter, filepath.Join(shared.Root(t), "integrations", "testdata", script),
		filepath.Join(h.Dir, filepath.FromSlash(plug)))
	if out.Err != nil {
		t.Fatalf("%v\n%s", out.Err, out.Stderr)
	}
	if err := json.Unmarshal([]byte(out.Stdout), output); err != nil {
		t.Fatalf("%v\n%s", err, out.Stdout)
	}
}

// serves leaves the plug kagewasm's server alone.
func serves(t *testing.T, h *agenttest.Home, command string) {
	t.Helper()
	program := servesAlone(t, h.Project, agenttest.Kagewasm(t))
	calls(t, filepath.Join(h.Dir, filepath.FromSlash(command)), program, h.Socket())
}

// breaks makes the plug call a program that is not there, and ask a server that is killed.
func breaks(t *testing.T, h *agenttest.Home, command string) {
	t.Helper()
	calls(t, filepath.Join(h.Dir, filepath.FromSlash(command)), "/none/kagewasm", hangsUp(t))
}

// triggered fails where the first compaction of a session has another reason: only what a person asked for is theirs.
func triggered(t *testing.T, h *agenttest.Home, session string, want abi.TriggerReason) {
	t.Helper()
	var shown struct {
		Compactions []struct{ Trigger abi.TriggerReason }
	}
	said := h.Must(t, agenttest.Kagewasm(t), "sessions", "show", session, "--json")
	if err := json.Unmarshal([]byte(said), &shown); err != nil || len(shown.Compactions) == 0 {
		t.Fatalf("%s: %v\n%s", session, err, said)
	}
	if got := shown.Compactions[0].Trigger; got != want {
		t.Errorf("%s: compacted for %s, want %s", session, got, want)
	}
}

// demo is the session of the project's own demonstration, each of its calls with a result.
func demo(t *testing.T) *transcript.Session {
	t.Helper()
	path := filepath.Join(shared.Root(t), "testdata", "demo.jsonl")
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, err := transcript.Read(path, data, transcript.Neutral)
	if err != nil {
		t.Fatal(err)
	}
	answered := make(map[string]bool)
	for i := range s.Messages {
		answered[s.Messages[i].ToolCallID] = true
	}
	for i := range s.Messages { // a person stopped one
		m := &s.Messages[i]
		m.ToolCalls = slices.DeleteFunc(m.ToolCalls, func(c abi.ToolCall) bool { return !answered[c.ID] })
	}
	return s
}

// clawMessage is a message of OpenClaw.
type clawMessage struct {
	Role       string           `json:"role"`
	Content    []map[string]any `json:"content"`
	ToolCallID string           `json:"toolCallId,omitempty"`
	Timestamp  int              `json:"timestamp"`
}

func clawMessages(msgs []abi.Message) (list []clawMessage) {
	for i := range msgs {
		m := &msgs[i]
		c := clawMessage{Role: string(m.Role), Timestamp: i, ToolCallID: m.ToolCallID,
			Content: []map[string]any{{"type": "text", "text": m.Text()}}}
		switch m.Role {
		case abi.RoleSystem:
			continue
		case abi.RoleTool:
			c.Role = "toolResult"
		}
		for _, call := range m.ToolCalls {
			c.Content = append(c.Content, map[string]any{"type": "toolCall", "id": call.ID, "name": call.Name,
				"arguments": json.RawMessage(call.Arguments)})
		}
		list = append(list, c)
	}
	return list
}

type assembled struct {
	Messages        []json.RawMessage `json:"messages"`
	EstimatedTokens int               `json:"estimatedTokens"`
}

type compactedBy struct {
	OK        bool   `json:"ok"`
	Compacted bool   `json:"compacted"`
	Reason    string `json:"reason"`
}

// benign fails where OpenClaw would not go on with the turn before which it asked for a compaction.
func benign(t *testing.T, reason string) {
	t.Helper()
	if !strings.Contains(reason, "below threshold") && !strings.Contains(reason, "already compacted") {
		t.Errorf("a turn would fail for %q", reason)
	}
}

// TestOpenClaw: the engine shows what fits, shows the same until the next compaction, also after a restart and beside
// other sessions, never says ok without a compaction, and commits a turn once.
func TestOpenClaw(t *testing.T) {
	features.Proves(t, "N11", "I9")
	msgs := clawMessages(demo(t).Messages)
	input := map[string]any{"sessionId": "claw:1", "messages": msgs, "tokenBudget": 30_000}
	var got struct {
		Info struct {
			TranscriptSemantics map[string]string `json:"transcriptSemantics"`
			OwnsCompaction      bool              `json:"ownsCompaction"`
		} `json:"info"`
		Early, Forced                          compactedBy
		First, Second, Restarted, After, Other assembled
		Unsaved                                assembled
		Turns                                  []string `json:"turns"`
		Reasons                                []string `json:"reasons"`
		Due                                    []assembled
	}
	const plug = ".openclaw/extensions/kagewasm"
	h := drive(t, "openclaw", "node", "openclaw.mjs", plug, input, &got)
	if !got.Info.OwnsCompaction || len(got.Info.TranscriptSemantics) != 2 {
		t.Errorf("info %+v", got.Info)
	}
	if got.First.EstimatedTokens > 30_000 || len(got.First.Messages) >= len(msgs) {
		t.Errorf("%d of %d messages, %d tokens for 30,000", len(got.First.Messages), len(msgs), got.First.EstimatedTokens)
	}
	if !strings.Contains(string(bytes.Join(anyBytes(got.First.Messages), nil)), "compaction_summary-") {
		t.Error("there is no note")
	}
	clawPairsWhole(t, got.First.Messages)
	clawPairsWhole(t, got.After.Messages)
	for name, later := range map[string]assembled{"with one message more": got.Second, "after a restart": got.Restarted} {
		for i := range got.First.Messages {
			if i >= len(later.Messages) || !bytes.Equal(got.First.Messages[i], later.Messages[i]) {
				t.Errorf("%s message %d is another one", name, i)
				break
			}
		}
		if len(later.Messages) != len(got.First.Messages)+1 {
			t.Errorf("%s: %d messages, there were %d", name, len(later.Messages), len(got.First.Messages))
		}
	}
	if got.Early.OK || got.Forced.OK != got.Forced.Compacted {
		t.Errorf("early %+v, forced %+v", got.Early, got.Forced)
	}
	for _, reason := range got.Reasons {
		benign(t, reason)
	}
	if len(got.Due) != 2 {
		t.Fatalf("assembled %d times of 2", len(got.Due))
	}
	if n, again := len(got.Due[0].Messages), len(got.Due[1].Messages); n >= len(msgs) || again != n {
		t.Errorf("asked before anything was assembled: %d of %d messages, then %d", n, len(msgs), again)
	}
	if n := len(got.Unsaved.Messages); n == 0 || n >= len(msgs) {
		t.Errorf("where nothing can be saved: %d of %d messages", n, len(msgs))
	}
	if len(got.Other.Messages) != 3 {
		t.Errorf("another session has %d messages of 3", len(got.Other.Messages))
	}
	if turns := strings.Join(got.Turns, " "); turns != "committed duplicate committed duplicate" {
		t.Errorf("turns %s", turns)
	}
	triggered(t, h, "claw:1", abi.TriggerThreshold)
	triggered(t, h, "person", abi.TriggerManual)
	triggered(t, h, "overflow", abi.TriggerThreshold)
	serves(t, h, plug+"/command.js")
	input["sessionId"] = "claw:3"
	again(t, h, "node", "openclaw.mjs", plug, input, &got)
	if len(got.First.Messages) >= len(msgs) {
		t.Errorf("the server alone: %d of %d messages", len(got.First.Messages), len(msgs))
	}
	breaks(t, h, plug+"/command.js")
	input["sessionId"] = "claw:2"
	again(t, h, "node", "openclaw.mjs", plug, input, &got)
	benign(t, got.Forced.Reason)
	if !strings.HasPrefix(got.Forced.Reason, "kagewasm could not compact: ") {
		t.Errorf("the reason of a failure is %q", got.Forced.Reason)
	}
	if len(got.First.Messages) != len(msgs) || got.Forced.OK {
		t.Errorf("without kagewasm: %d of %d messages, forced %+v", len(got.First.Messages), len(msgs), got.Forced)
	}
}

func anyBytes(list []json.RawMessage) (out [][]byte) {
	for _, m := range list {
		out = append(out, m)
	}
	return out
}

func clawPairsWhole(t *testing.T, list []json.RawMessage) {
	t.Helper()
	open := make(map[string]bool)
	for i, raw := range list {
		var m clawMessage
		if json.Unmarshal(raw, &m) != nil {
			continue // its content is a text
		}
		for _, p := range m.Content {
			if p["type"] == "toolCall" {
				open[p["id"].(string)] = true
			}
		}
		if m.Role == "toolResult" {
			if !open[m.ToolCallID] {
				t.Errorf("message %d: a result of %s, which was not called", i, m.ToolCallID)
			}
			delete(open, m.ToolCallID)
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without results: %v", open)
	}
}

// TestHermes: compress gives back a shorter list that a provider takes, leaves the one it was given alone, and gives
// that back where kagewasm fails. What it did is kept under hermes' own session.
func TestHermes(t *testing.T) {
	features.Proves(t, "N11", "I9")
	s := demo(t)
	body, err := s.Encode(s.Messages, "openai")
	if err != nil {
		t.Fatal(err)
	}
	var input struct {
		Messages []json.RawMessage `json:"messages"`
	}
	if err := json.Unmarshal(body, &input); err != nil {
		t.Fatal(err)
	}
	var got struct {
		Name                  string
		Due, Early, Untouched bool
		Once, Twice           []json.RawMessage
		Count                 int
	}
	const plug = ".hermes/plugins/kagewasm"
	h := drive(t, "hermes", "python3", "hermes.py", plug, input.Messages, &got)
	if got.Name != "kagewasm" || !got.Due || got.Early || !got.Untouched || got.Count != 2 {
		t.Errorf("%+v", got)
	}
	if len(got.Once) >= len(input.Messages) || len(got.Twice) > len(got.Once)+1 {
		t.Errorf("%d messages, then %d, then %d", len(input.Messages), len(got.Once), len(got.Twice))
	}
	chatPairsWhole(t, 1, agenttest.Request{Messages: got.Once})
	chatPairsWhole(t, 2, agenttest.Request{Messages: got.Twice})
	if list := h.Must(t, agenttest.Kagewasm(t), "sessions"); !strings.Contains(list, "hermes-1") {
		t.Errorf("sessions: %s", list)
	}
	triggered(t, h, "hermes-1", abi.TriggerThreshold)
	serves(t, h, plug+"/command.py")
	again(t, h, "python3", "hermes.py", plug, input.Messages, &got)
	if len(got.Once) >= len(input.Messages) || got.Count != 2 {
		t.Errorf("the server alone: %d of %d messages", len(got.Once), len(input.Messages))
	}
	breaks(t, h, plug+"/command.py")
	again(t, h, "python3", "hermes.py", plug, input.Messages, &got)
	if len(got.Once) != len(input.Messages) || got.Count != 0 {
		t.Errorf("without kagewasm: %d of %d messages", len(got.Once), len(input.Messages))
	}
}
