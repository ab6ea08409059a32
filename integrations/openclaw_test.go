package integrations_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/agenttest"
	"github.com/kagewasm/kagewasm/internal/features"
)

// newOpenClaw has settings with a comment, as a person may have.
func newOpenClaw(t *testing.T) *chatAgent {
	t.Helper()
	a := chatAgentOf(t, agenttest.Next(t, "openclaw", "openclaw/openclaw.mjs"))
	a.put(t, ".openclaw/openclaw.json", fmt.Sprintf(`{
  // a model of our own
  "agents": {"defaults": {"model": {"primary": "loop/m1"}, "workspace": %q}},
  "models": {"mode": "replace", "providers": {"loop": {"baseUrl": %q, "apiKey": "x", "api": "openai-completions",
    "models": [{"id": "m1", "name": "m1", "reasoning": false, "input": ["text"], "contextWindow": %d, "maxTokens": 2000,
      "cost": {"input": 0, "output": 0, "cacheRead": 0, "cacheWrite": 0}}]}}},
}
`, a.Project, agenttest.Chat(t, a.model), window))
	return a
}

// openclaw runs a prompt in the one session there is, by a program of its own each time.
func (a *chatAgent) openclaw(t *testing.T, prompt string) string {
	t.Helper()
	return a.Must(t, a.program, "agent", "--local", "--session-id", "one", "-m", prompt)
}

// TestOpenClawConversation: the real OpenClaw loads the engine, and its model sees what kagewasm leaves of a session,
// which stays so, to the byte, when the session is gone on with by another process. Where kagewasm is gone OpenClaw
// goes on from there.
func TestOpenClawConversation(t *testing.T) {
	features.Proves(t, "N11")
	a := newOpenClaw(t)
	before := agenttest.Tree(t, a.Dir)
	a.Must(t, a.kagewasm, "install", "openclaw")
	a.model.By = func(r agenttest.Request, _ int) (agenttest.Answer, bool) { // OpenClaw has notes taken before it compacts
		return agenttest.Answer{Text: "NO_REPLY"}, strings.Contains(string(r.Messages[len(r.Messages)-1]), "memory flush")
	}
	for n := range 2 {
		answer := agenttest.Answer{Text: "I look."}
		for k := range 4 {
			file := filepath.Join(a.Project, fmt.Sprintf("%d-%d.txt", n, k))
			text := strings.Repeat(fmt.Sprintf("a line of file %d-%d that says next to nothing\n", n, k), 400)
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			answer.Calls = append(answer.Calls, agenttest.Call{Name: "read", Input: map[string]any{"path": file}})
		}
		a.model.Say(answer, agenttest.Answer{Text: fmt.Sprintf("Folder %d is about depots.", n)})
		if said := a.openclaw(t, fmt.Sprintf("What is in folder %d?", n)); !strings.Contains(said, "is about depots.") {
			t.Fatalf("it says %s", said)
		}
	}
	whole := a.model.Last(t)
	if whole.Says("compaction_summary-") || !whole.Says("a line of file 0-0 that") {
		t.Error("it was compacted before the window was full")
	}
	a.openclaw(t, "go on")
	compacted := a.model.Last(t)
	if !compacted.Says("compaction_summary-") || !compacted.Says("What is in folder 0?") ||
		compacted.Says("a line of file 0-0 that") || compacted.Size() > whole.Size()/2 {
		t.Errorf("%d bytes of messages, %d before; the note is there: %v", compacted.Size(), whole.Size(),
			compacted.Says("compaction_summary-"))
	}
	made := a.recordedCompactions(t)
	if made == 0 {
		t.Error("no compaction in the store")
	}
	a.openclaw(t, "and on")
	now := a.model.Last(t)
	if now.Size() > compacted.Size()*105/100 || a.recordedCompactions(t) != made {
		t.Errorf("gone on with: %d bytes of messages, %d before; %d compactions, then %d", now.Size(), compacted.Size(),
			made, a.recordedCompactions(t))
	}
	for i, m := range compacted.Messages[:len(compacted.Messages)-1] { // the first and the last are OpenClaw's own
		if i > 0 && (i >= len(now.Messages) || !bytes.Equal(m, now.Messages[i])) {
			t.Errorf("message %d is another one: %.300s", i, m)
			break
		}
	}
	calls(t, filepath.Join(a.Dir, ".openclaw", "extensions", "kagewasm", "command.js"), "/none/kagewasm", hangsUp(t))
	if said := a.openclaw(t, "and now?"); !strings.Contains(said, "done") || !a.model.Last(t).Says("compaction_summary-") {
		t.Errorf("without kagewasm it says %s", said)
	}
	for i, r := range a.model.Requests() {
		chatPairsWhole(t, i, r)
	}
	if n := rollbacks(t, a.Home); n != 0 {
		t.Errorf("nobody went back, and the store has the session going back %d times", n)
	}
	a.Must(t, a.kagewasm, "uninstall", "openclaw")
	own := []string{".openclaw/agents", ".openclaw/state", ".openclaw/tmp", ".openclaw/plugin-skills", ".cache"}
	if left := agenttest.Changed(before, agenttest.Tree(t, a.Dir), own...); len(left) > 0 {
		t.Errorf("uninstall left %v", left)
	}
}
