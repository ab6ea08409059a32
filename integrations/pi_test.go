package integrations_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/internal/agenttest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
)

// chatAgent is a real agent that speaks chat completions, before a scripted model.
type chatAgent struct {
	*agenttest.Home
	model             *agenttest.Model
	program, kagewasm string
}

func newChatAgent(t *testing.T, program string) *chatAgent {
	t.Helper()
	return chatAgentOf(t, agenttest.Program(t, program))
}

func chatAgentOf(t *testing.T, program string) *chatAgent {
	t.Helper()
	a := &chatAgent{program: program, kagewasm: agenttest.Kagewasm(t), model: &agenttest.Model{}}
	a.Home = agenttest.NewHome(t, a.program, a.kagewasm)
	return a
}

// put writes a file below the home folder.
func (a *chatAgent) put(t *testing.T, name, text string) {
	t.Helper()
	path := filepath.Join(a.Dir, filepath.FromSlash(name))
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// recordedCompactions are those in the store, of all sessions.
func (a *chatAgent) recordedCompactions(t *testing.T) (n int) {
	t.Helper()
	var list struct {
		Sessions []struct{ Compactions int } `json:"sessions"`
	}
	if err := json.Unmarshal([]byte(a.Must(t, a.kagewasm, "sessions", "list", "--json")), &list); err != nil {
		t.Fatal(err)
	}
	for _, s := range list.Sessions {
		n += s.Compactions
	}
	return n
}

// window is that of the model that chat agents are given.
const window = 60_000

func newPi(t *testing.T) *chatAgent {
	return newChatAgent(t, "pi").models(t)
}

// models tells pi of the scripted model.
func (a *chatAgent) models(t *testing.T) *chatAgent {
	t.Helper()
	a.put(t, ".pi/agent/models.json", fmt.Sprintf(`{"providers":{"loop":{"baseUrl":%q,"api":"openai-completions","apiKey":"x",`+
		`"models":[{"id":"m1","name":"m1","input":["text","image"],"contextWindow":%d,"maxTokens":2000,`+
		`"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0}}]}}}`, agenttest.Chat(t, a.model), window))
	return a
}

// nextPi is a pi that needs a newer Node, and lets extensions edit what its model sees.
func nextPi(t *testing.T) *chatAgent {
	t.Helper()
	return chatAgentOf(t, agenttest.Next(t, "pi", "@earendil-works/pi-coding-agent/dist/bundle/cli.js")).models(t)
}

// writeSettings writes how kagewasm compacts for an agent.
func (a *chatAgent) writeSettings(t *testing.T, agent, text string) {
	t.Helper()
	settings := filepath.Join(a.State, "kagewasm", "agents", agent+".yaml")
	if err := os.WriteFile(settings, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPiPrunes: in a pi that lets extensions edit what its model sees, old results of tools are shortened at the end of
// a turn where the window fills, by edits that the session file keeps: the results stay there, and what the model sees
// stays short when the session is gone on with.
func TestPiPrunes(t *testing.T) {
	features.Proves(t, "N11")
	a := nextPi(t)
	a.Must(t, a.kagewasm, "install", "pi")
	a.writeSettings(t, "pi", "compaction: {prune: {protect_tokens: 9000, minimum_savings: 2000}}\n")
	for n := range 7 {
		file := filepath.Join(a.Project, fmt.Sprintf("%d.txt", n))
		text := strings.Repeat(fmt.Sprintf("a line of file %d that says next to nothing\n", n), 500)
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		a.model.Say(agenttest.Answer{Text: "I look.", Calls: []agenttest.Call{bashCommand(file)}},
			agenttest.Answer{Text: fmt.Sprintf("File %d is about depots.", n)})
		a.pi(t, fmt.Sprintf("What is in file %d?", n))
	}
	a.pi(t, "go on")
	pruned := a.model.Last(t)
	if pruned.Says("a line of file 0 that") || !pruned.Says("a line of file 6 that") ||
		!pruned.Says("File 0 is about depots.") {
		t.Errorf("the model reads %.6000s", pruned.Body)
	}
	for i, r := range a.model.Requests() {
		chatPairsWhole(t, i, r)
	}
	kept := false
	for path, text := range agenttest.Tree(t, filepath.Join(a.Dir, ".pi", "agent", "sessions")) {
		kept = kept || strings.Contains(text, `"context_edit"`) && strings.Contains(text, "a line of file 0 that") &&
			strings.HasSuffix(path, ".jsonl")
	}
	if all, _ := a.compactions(t); !kept || all != 0 {
		t.Errorf("the session file keeps edits and results: %v; %d compactions", kept, all)
	}
	a.pi(t, "and on")
	if now := a.model.Last(t); now.Size() > pruned.Size()*105/100 {
		t.Errorf("gone on with: %d bytes of messages, %d before", now.Size(), pruned.Size())
	}
}

// pi runs a prompt in the latest session, or in what flags say.
func (a *chatAgent) pi(t *testing.T, prompt string, flags ...string) {
	t.Helper()
	if flags == nil {
		flags = []string{"-c"}
	}
	args := append([]string{"--offline", "--provider", "loop", "--model", "m1"}, flags...)
	a.Must(t, a.program, append(args, "-p", prompt)...)
}

func bashCommand(file string) agenttest.Call {
	return agenttest.Call{Name: "bash", Input: map[string]any{"command": "cat " + file, "description": "show"}}
}

// compactions are the compaction entries in pi's sessions: all, and those that an extension made.
func (a *chatAgent) compactions(t *testing.T) (all, ours int) {
	t.Helper()
	for path, text := range agenttest.Tree(t, filepath.Join(a.Dir, ".pi", "agent", "sessions")) {
		if strings.HasSuffix(path, ".jsonl") {
			all += strings.Count(text, `"type":"compaction"`)
			ours += strings.Count(text, `"fromHook":true`)
		}
	}
	return all, ours
}

// TestPiConversation replays a recorded session through the real pi: each of its compactions is ours, none parts a call
// from its result, and what was compacted stays so when the session is gone on with, and in a fork.
func TestPiConversation(t *testing.T) {
	features.Proves(t, "N11")
	for version, start := range map[string]func(*testing.T) *chatAgent{"0.74": newPi, "0.87": nextPi} {
		t.Run(version, func(t *testing.T) {
			a := start(t)
			ours := a.piConversation(t)
			if n := a.recordedCompactions(t); n < ours {
				t.Errorf("the store has %d compactions, pi has %d", n, ours)
			}
			if n := rollbacks(t, a.Home); n != 0 {
				t.Errorf("nobody went back, and the store has the session going back %d times", n)
			}
		})
	}
}

// piConversation returns how often pi has compacted.
func (a *chatAgent) piConversation(t *testing.T) (ours int) {
	t.Helper()
	before := agenttest.Tree(t, a.Dir)
	a.Must(t, a.kagewasm, "install", "pi")
	turns := agenttest.Replay(t, recorded(t, longSession), a.Project, bashCommand)
	for _, turn := range turns[:min(8, len(turns))] {
		a.model.Say(turn.Answers...)
		a.pi(t, turn.Prompt)
	}
	all, ours := a.compactions(t)
	if ours == 0 || ours != all {
		t.Fatalf("%d compactions, %d of them ours", all, ours)
	}
	t.Logf("%d requests, %d compactions", len(a.model.Requests()), ours)
	a.pi(t, "go on")
	compacted := a.model.Last(t)
	if !compacted.Says("compaction_summary-") || !compacted.Says(turns[0].Prompt) {
		t.Error("the note or the task is not in the request")
	}
	for i, r := range a.model.Requests() {
		if strings.Contains(string(r.Body), "context summarization assistant") {
			t.Errorf("request %d asks the model for a summary", i)
		}
		chatPairsWhole(t, i, r)
	}
	a.pi(t, "and on")
	if now := a.model.Last(t); now.Size() > compacted.Size()*105/100 {
		t.Errorf("gone on with: %d bytes of messages, %d after the compaction", now.Size(), compacted.Size())
	}
	sessions, err := filepath.Glob(filepath.Join(a.Dir, ".pi", "agent", "sessions", "*", "*.jsonl"))
	if err != nil || len(sessions) != 1 {
		t.Fatalf("sessions %v, %v", sessions, err)
	}
	a.pi(t, "elsewhere", "--fork", sessions[0])
	if now := a.model.Last(t); now.Size() > compacted.Size()*105/100 {
		t.Errorf("forked: %d bytes of messages, %d after the compaction", now.Size(), compacted.Size())
	}
	a.Must(t, a.kagewasm, "uninstall", "pi")
	own := []string{".pi/agent/sessions", ".pi/agent/auth.json", ".pi/agent/settings.json", ".pi/agent/bin",
		".pi/agent/models-store.json", ".npm", ".cache"}
	if left := agenttest.Changed(before, agenttest.Tree(t, a.Dir), own...); len(left) > 0 {
		t.Errorf("uninstall left %v", left)
	}
	return ours
}

// TestPiGoesOn: where kagewasm is killed or gone, pi compacts itself.
func TestPiGoesOn(t *testing.T) {
	a := newPi(t)
	a.Must(t, a.kagewasm, "install", "pi")
	calls(t, filepath.Join(a.Dir, ".pi/agent/extensions/kagewasm/command.js"), filepath.Join(a.Dir, "killed"), hangsUp(t))
	a.put(t, "killed", "#!/bin/sh\n"+a.kagewasm+" \"$@\" & kill -9 $!; wait $!\n")
	if err := os.Chmod(filepath.Join(a.Dir, "killed"), 0o755); err != nil {
		t.Fatal(err)
	}
	turns := agenttest.Replay(t, recorded(t, longSession), a.Project, bashCommand)
	a.model.Say(agenttest.Answer{Text: "I was going to", Cut: true})
	a.Run(t, a.program, "--offline", "--provider", "loop", "--model", "m1", "-p", "an answer that is cut off")
	for _, turn := range turns[:min(6, len(turns))] {
		a.model.Say(turn.Answers...)
		a.pi(t, turn.Prompt)
	}
	if all, ours := a.compactions(t); all == 0 || ours != 0 {
		t.Errorf("%d compactions, %d of them ours", all, ours)
	}
}

// TestPiSubagent: pi has no subagents of its own; by the extension that comes with it, which starts a pi of its own for
// each, one whose window is full is compacted through us, and the session that called it is left alone.
func TestPiSubagent(t *testing.T) {
	for version, start := range map[string]func(*testing.T) *chatAgent{"agents": newPi, "agents-next": nextPi} {
		t.Run(version, func(t *testing.T) {
			a := start(t)
			a.Must(t, a.kagewasm, "install", "pi")
			example := filepath.Join(shared.Root(t), "build", version, "node_modules", "@earendil-works", "pi-coding-agent",
				"examples", "extensions", "subagent")
			for _, name := range []string{"index.ts", "agents.ts"} {
				data, err := os.ReadFile(filepath.Join(example, name))
				if err != nil {
					t.Fatal(err)
				}
				a.put(t, ".pi/agent/extensions/subagent/"+name, string(data))
			}
			a.put(t, ".pi/agent/agents/reader.md", "---\nname: reader\ndescription: Reads files.\nmodel: loop/m1\n---\n"+
				"You read files.\n")
			a.Env = append(a.Env, "PI_OFFLINE=1")
			a.model.Say(agenttest.Answer{Calls: []agenttest.Call{{Name: "subagent", Input: map[string]any{"agent": "reader",
				"task": "Read all the files."}}}})
			for n := range 16 {
				file := filepath.Join(a.Project, fmt.Sprintf("%d.txt", n))
				text := strings.Repeat(fmt.Sprintf("line of file %d\n", n), 800)
				if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
				a.model.Say(agenttest.Answer{Text: fmt.Sprintf("File %d.", n), Calls: []agenttest.Call{bashCommand(file)}})
			}
			a.pi(t, "Have somebody read the files.")
			noted := 0
			for i, r := range a.model.Requests() {
				chatPairsWhole(t, i, r)
				if r.Says("context summarization assistant") {
					t.Errorf("request %d asks the model for a summary", i)
				}
				if !r.Says("compaction_summary-") {
					continue
				}
				if noted++; !r.Says("Read all the files.") || r.Says("Have somebody read the files.") {
					t.Errorf("request %d has a note, and is not the subagent's", i)
				}
			}
			if version == "agents-next" && noted == 0 { // which compacts between two calls, and not at the end alone
				t.Errorf("no note in %d requests", len(a.model.Requests()))
			}
			if last := a.model.Last(t); !last.Says("Have somebody read the files.") || len(last.Messages) > 5 {
				t.Errorf("the last request is not the one that called: %.500s", last.Body)
			}
			if n := a.recordedCompactions(t); n == 0 {
				t.Error("no compaction in the store")
			}
			if all, _ := a.compactions(t); all != 0 {
				t.Errorf("the session that called was compacted %d times", all)
			}
		})
	}
}
