package integrations_test

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/agenttest"
)

// piApp is pi, with commands and events, in the latest session.
type piApp struct{ *app }

func (a *chatAgent) piApp(t *testing.T) piApp {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), a.program, "--offline", "--provider", "loop", "--model", "m1", "-c", "--mode",
		"rpc")
	cmd.Dir, cmd.Env = a.Project, a.Env
	return piApp{startApp(t, cmd)}
}

// say sends a command and waits for the answer to it, or for an event that ends what it began.
func (p piApp) say(command map[string]any, until string) {
	p.t.Helper()
	p.send(command)
	for p.lines.Scan() {
		var said map[string]any
		if json.Unmarshal(p.lines.Bytes(), &said) != nil {
			continue
		}
		if said["type"] == "response" && said["success"] != true {
			p.t.Fatalf("%v: %s", command, p.lines.Bytes())
		}
		if said["type"] == until || said["type"] == "response" && said["command"] == until {
			return
		}
	}
	p.t.Fatalf("%v: pi ended, and said no %s", command, until)
}

// TestPiByHand: a compaction that a person asks for goes through us and asks no model, also behind a turn that they
// broke off; what was compacted stays so when the session is gone on with, and in a fork.
func TestPiByHand(t *testing.T) {
	for version, start := range map[string]func(*testing.T) *chatAgent{"0.74": newPi, "0.87": nextPi} {
		t.Run(version, func(t *testing.T) {
			a := start(t)
			a.Must(t, a.kagewasm, "install", "pi")
			turns := agenttest.Replay(t, recorded(t, longSession), a.Project, bashCommand)
			for _, turn := range turns[:3] {
				a.model.Say(turn.Answers...)
				a.pi(t, turn.Prompt)
			}
			full := a.model.Last(t)
			if all, _ := a.compactions(t); all != 0 || full.Says("compaction_summary-") {
				t.Fatalf("it is compacted before that: %d", all)
			}
			app := a.piApp(t)
			asked := len(a.model.Requests())
			a.model.Say(agenttest.Answer{Hold: true})
			app.say(map[string]any{"type": "prompt", "message": "a question that is broken off"}, "prompt")
			for len(a.model.Requests()) == asked {
				time.Sleep(10 * time.Millisecond)
			}
			app.say(map[string]any{"type": "abort"}, "abort")
			asked = len(a.model.Requests())
			app.say(map[string]any{"type": "compact", "customInstructions": "keep the names of tests"}, "compact")
			if n := len(a.model.Requests()) - asked; n != 0 {
				t.Errorf("the model was asked %d times", n)
			}
			if all, ours := a.compactions(t); all != 1 || ours != 1 || a.recordedCompactions(t) != 1 {
				t.Errorf("%d compactions, %d of them ours, %d in the store", all, ours, a.recordedCompactions(t))
			}
			app.say(map[string]any{"type": "prompt", "message": "go on"}, "agent_end")
			app.close()
			small := a.model.Last(t)
			chatPairsWhole(t, len(a.model.Requests()), small)
			if small.Size() > full.Size()*2/3 || !small.Says("compaction_summary-") || !small.Says("go on") {
				t.Errorf("%d bytes of %d behind the compaction; the note is there: %v", small.Size(), full.Size(),
					small.Says("compaction_summary-"))
			}
			sessions, err := filepath.Glob(filepath.Join(a.Dir, ".pi", "agent", "sessions", "*", "*.jsonl"))
			if err != nil || len(sessions) != 1 {
				t.Fatalf("sessions %v, %v", sessions, err)
			}
			for how, flags := range map[string][]string{"gone on with": nil, "forked": {"--fork", sessions[0]}} {
				a.pi(t, "and on", flags...)
				if now := a.model.Last(t); now.Size() > small.Size()*105/100 {
					t.Errorf("%s: %d bytes of messages, %d after the compaction", how, now.Size(), small.Size())
				}
			}
		})
	}
}
