package integrations_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/kagewasm/kagewasm/abi"
	"github.com/kagewasm/kagewasm/internal/agenttest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/shared"
	"github.com/kagewasm/kagewasm/internal/soak"
	"github.com/kagewasm/kagewasm/transcript"
)

func TestMain(m *testing.M) {
	code := m.Run()
	agenttest.Remove()
	os.Exit(code)
}

// claude is the real Claude Code with the mod installed, before a scripted model.
type claude struct {
	*agenttest.Home
	model             *agenttest.Model
	program, kagewasm string
}

func newClaude(t *testing.T) *claude {
	t.Helper()
	c := &claude{program: agenttest.Program(t, "claude"), kagewasm: agenttest.Kagewasm(t), model: &agenttest.Model{}}
	c.Home = agenttest.NewHome(t, c.program, c.kagewasm)
	c.Env = append(c.Env, "ANTHROPIC_BASE_URL="+agenttest.Anthropic(t, c.model), "ANTHROPIC_API_KEY=sk-ant-test",
		"DISABLE_TELEMETRY=1", "DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1",
		"CLAUDE_CODE_AUTO_COMPACT_WINDOW=100000")
	return c
}

func (c *claude) install(t *testing.T) {
	t.Helper()
	c.Must(t, c.kagewasm, "install", "claude-code")
}

// path is that of a file of the mod.
func (c *claude) path(names ...string) string {
	return filepath.Join(append([]string{c.Dir, ".claude", "skills", "kagewasm"}, names...)...)
}

// result is what a run of Claude Code ends with.
type result struct {
	Session string `json:"session_id"`
	Text    string `json:"result"`
	IsError bool   `json:"is_error"`
}

// ask runs a prompt, in a session where one is named, and returns what came of it.
func (c *claude) ask(t *testing.T, session, prompt string, flags ...string) result {
	t.Helper()
	args := append([]string{"-p", prompt, "--output-format", "json", "--model", "claude-sonnet-4-5", "--allowedTools",
		"Bash(cat:*)", "Read"}, flags...)
	if session != "" {
		args = append(args, "--resume", session)
	}
	out := c.Run(t, c.program, args...)
	var r result
	if err := json.Unmarshal([]byte(out.Stdout), &r); err != nil {
		t.Fatalf("claude %q: %v\n%s\n%s", prompt, out.Err, out.Stdout, out.Stderr)
	}
	return r
}

// log is the log that Claude Code keeps of a session.
func (c *claude) log(session string) string {
	project := regexp.MustCompile(`[^a-zA-Z0-9]`).ReplaceAllString(c.Project, "-")
	return filepath.Join(c.Dir, ".claude", "projects", project, session+".jsonl")
}

// boundaries are how many compactions a log tells of.
func (c *claude) boundaries(t *testing.T, session string) int {
	t.Helper()
	data, err := os.ReadFile(c.log(session))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(data), `"subtype":"compact_boundary"`)
}

// seed gives Claude Code a session that it can go on with.
func (c *claude) seed(t *testing.T, msgs []abi.Message) (session string) {
	t.Helper()
	neutral := &transcript.Session{Format: transcript.Neutral}
	data, err := neutral.Encode(msgs, "claude-code")
	if err != nil {
		t.Fatal(err)
	}
	session = regexp.MustCompile(`"sessionId":"([^"]+)"`).FindStringSubmatch(string(data))[1]
	if err := os.MkdirAll(filepath.Dir(c.log(session)), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.log(session), data, 0o600); err != nil {
		t.Fatal(err)
	}
	return session
}

// made is how often kagewasm made a session shorter, by its audit log: by compactions, and by pruning alone.
func (c *claude) made(t *testing.T, session string) (times int) {
	t.Helper()
	for line := range strings.Lines(c.Must(t, c.kagewasm, "audit", "export")) {
		var logged struct {
			Entry struct {
				Type    string `json:"type"`
				Session string `json:"session"`
			} `json:"entry"`
			Content struct {
				Report struct {
					Pruned struct {
						Count int `json:"count"`
					} `json:"pruned"`
				} `json:"report"`
			} `json:"content"`
		}
		if err := json.Unmarshal([]byte(line), &logged); err != nil {
			t.Fatal(err)
		}
		e := logged.Entry
		if e.Session == session && (e.Type == "compaction.completed" ||
			e.Type == "compaction.noop" && logged.Content.Report.Pruned.Count > 0) {
			times++
		}
	}
	return times
}

// bashCat shows a file with Claude Code's own tool.
func bashCat(file string) agenttest.Call {
	return agenttest.Call{Name: "Bash", Input: map[string]any{"command": "cat " + file, "description": "show"}}
}

// longSession is a recorded session with parallel calls.
const longSession = "entireio-cli__claude-25-730c662552-0.jsonl"

func recorded(t testing.TB, name string) []abi.Message {
	t.Helper()
	for _, path := range shared.Sessions(t) {
		if filepath.Base(path) == name {
			return shared.Messages(t, path)
		}
	}
	t.Fatalf("no session %s", name)
	return nil
}

// TestClaudeCodeModIsSound: Claude Code's own checks pass on the plug.
func TestClaudeCodeModIsSound(t *testing.T) {
	c := newClaude(t)
	mod := filepath.Join(shared.Root(t), "integrations", "claude-code")
	if out := c.Must(t, c.program, "plugin", "validate", "--strict", mod); !strings.Contains(out, "Validation passed") {
		t.Error(out)
	}
	if out := c.Must(t, c.program, "plugin", "test", mod); !strings.Contains(out, "pass") {
		t.Error(out)
	}
}

// TestClaudeCodeConversation replays a recorded session through the real client: it is compacted by itself when the
// window is full, and by hand; neither asks the model for a summary, and what was compacted stays so on --resume and
// in a fork.
func TestClaudeCodeConversation(t *testing.T) {
	features.Proves(t, "N11")
	c := newClaude(t)
	before := agenttest.Tree(t, c.Dir)
	c.install(t)
	turns := agenttest.Replay(t, recorded(t, longSession), c.Project, bashCat)
	session, prompts, automatic := "", 0, 0
	for _, turn := range turns[:min(12, len(turns))] {
		c.model.Say(turn.Answers...)
		session = c.ask(t, session, turn.Prompt).Session
		prompts++
		automatic = c.boundaries(t, session)
	}
	if automatic == 0 {
		t.Fatalf("%d prompts, and nothing was compacted; the last request has %d bytes", prompts, c.model.Last(t).Size())
	}
	t.Logf("%d prompts, %d requests, %d automatic compactions", prompts, len(c.model.Requests()), automatic)
	if got := c.made(t, session); got < automatic {
		t.Errorf("kagewasm made it shorter %d times, Claude Code says %d", got, automatic)
	}
	noSummaryAsked(t, c.model)

	asked := len(c.model.Requests())
	if r := c.ask(t, session, "/compact keep the names of tests"); r.IsError {
		t.Fatalf("/compact: %+v", r)
	}
	if n := len(c.model.Requests()) - asked; n != 0 {
		t.Errorf("a compaction by hand asked the model %d times", n)
	}
	if got := c.boundaries(t, session); got != automatic+1 {
		t.Errorf("%d compactions after one by hand, want %d", got, automatic+1)
	}
	c.ask(t, session, "go on")
	compacted := c.model.Last(t)
	if !compacted.Says("compaction_summary-") {
		t.Error("the note is not in the request")
	}
	for _, again := range []struct {
		how   string
		flags []string
	}{{"resumed", nil}, {"forked", []string{"--fork-session"}}} {
		c.ask(t, session, "and on", again.flags...)
		if now := c.model.Last(t); now.Size() > compacted.Size()*105/100 {
			t.Errorf("%s: %d bytes of messages, %d after the compaction", again.how, now.Size(), compacted.Size())
		}
	}
	c.Must(t, c.kagewasm, "lost", session)
	if n := rollbacks(t, c.Home); n != 0 {
		t.Errorf("nobody went back, and the store has the session going back %d times", n)
	}
	c.Must(t, c.kagewasm, "uninstall", "claude-code")
	if left := agenttest.Changed(before, agenttest.Tree(t, c.Dir), claudesOwn(c)...); len(left) > 0 {
		t.Errorf("uninstall left %v", left)
	}
}

// claudesOwn are the paths that Claude Code itself keeps its state in.
func claudesOwn(c *claude) (own []string) {
	own = []string{".claude.json", ".claude/", ".cache", ".local"}
	for _, dir := range []string{"backups", "projects", "sessions", "plugins", "telemetry", "shell-snapshots", "todos",
		"debug", "statsig", "session-env", "file-history", "jobs", "tasks", "cache", ".last-cleanup", "policy-limits.json",
		"history.jsonl"} {
		own = append(own, ".claude/"+dir)
	}
	return own
}

// noSummaryAsked fails where the client asked the model for a summary of the conversation.
func noSummaryAsked(t *testing.T, m *agenttest.Model) {
	t.Helper()
	for i, r := range m.Requests() {
		if r.Says("create a detailed summary") {
			t.Errorf("request %d asks the model for a summary", i)
		}
	}
}

// TestClaudeCodeCompactsEachRecordedSession: each recorded session that holds a compaction, cut there, goes through the
// mod; the built-in is never called.
func TestClaudeCodeCompactsEachRecordedSession(t *testing.T) {
	c := newClaude(t)
	c.install(t)
	for _, path := range soak.Sample(shared.Sessions(t), 0, 8) {
		msgs := shared.Messages(t, path)
		for cut := range msgs {
			if msgs[cut].Kind != abi.KindSummary {
				continue
			}
			t.Run(fmt.Sprintf("%s/%d", filepath.Base(path), cut), func(t *testing.T) {
				session := c.seed(t, msgs[:cut])
				asked := len(c.model.Requests())
				r := c.ask(t, session, "/compact")
				if n := len(c.model.Requests()) - asked; n != 0 || r.IsError || c.boundaries(t, session) != 1 {
					t.Fatalf("the model was asked %d times, %d compactions: %+v", n, c.boundaries(t, session), r)
				}
				c.ask(t, session, "go on")
				first := c.model.Last(t)
				pairsWhole(t, first)
				c.ask(t, session, "go on")
				if again := c.model.Last(t); again.Size() > first.Size()*105/100 {
					t.Errorf("resumed: %d bytes, %d after the compaction", again.Size(), first.Size())
				}
			})
		}
	}
}

// pairsWhole fails where a request has a result without its call before it, or a call without its result.
func pairsWhole(t *testing.T, r agenttest.Request) {
	t.Helper()
	open := make(map[string]bool)
	for i, raw := range r.Messages {
		var m struct {
			Content json.RawMessage `json:"content"`
		}
		var blocks []struct {
			Type      string `json:"type"`
			ID        string `json:"id"`
			ToolUseID string `json:"tool_use_id"`
		}
		if json.Unmarshal(raw, &m) != nil || json.Unmarshal(m.Content, &blocks) != nil {
			continue
		}
		for _, b := range blocks {
			switch b.Type {
			case "tool_use":
				open[b.ID] = true
			case "tool_result":
				if !open[b.ToolUseID] {
					t.Errorf("message %d: a result of %s, which was not called", i, b.ToolUseID)
				}
				delete(open, b.ToolUseID)
			}
		}
	}
	if len(open) > 0 {
		t.Errorf("calls without results: %v", open)
	}
}

// TestClaudeCodeSubagent: a subagent whose own window is full is compacted too, under an id of its own.
func TestClaudeCodeSubagent(t *testing.T) {
	c := newClaude(t)
	c.install(t)
	c.model.Tokens = func(r agenttest.Request) int {
		if r.Agent == "" {
			return 1000
		}
		return r.Size()
	}
	c.model.Say(agenttest.Answer{Calls: []agenttest.Call{{Name: "Task", Input: map[string]any{
		"description": "look around", "prompt": "Read all the files.", "subagent_type": "general-purpose"}}}})
	for n := range 14 {
		file := filepath.Join(c.Project, fmt.Sprintf("%d.txt", n))
		if err := os.WriteFile(file, []byte(strings.Repeat(fmt.Sprintf("line of file %d\n", n), 800)), 0o644); err != nil {
			t.Fatal(err)
		}
		c.model.Say(agenttest.Answer{Text: fmt.Sprintf("File %d.", n), Calls: []agenttest.Call{bashCat(file)}})
	}
	session := c.ask(t, "", "Have somebody read the files.").Session
	noSummaryAsked(t, c.model)
	agents := make(map[string]bool)
	compacted := false
	for _, r := range c.model.Requests() {
		if r.Agent != "" {
			agents[r.Agent] = true
			compacted = compacted || r.Says("compaction_summary-")
		}
	}
	if len(agents) != 1 || !compacted {
		t.Fatalf("subagents %v, a note in their requests: %v, of %d", agents, compacted, len(c.model.Requests()))
	}
	for agent := range agents {
		if c.made(t, session+"."+agent) == 0 {
			t.Errorf("the store has no compaction of %s.%s:\n%s", session, agent, c.Must(t, c.kagewasm, "sessions"))
		}
	}
}

// TestClaudeCodeGoesOn: an answer that was cut off, and a kagewasm that is killed in the middle of its work or gone, do
// not stop the agent.
func TestClaudeCodeGoesOn(t *testing.T) {
	features.Proves(t, "N11")
	c := newClaude(t)
	c.install(t)
	session := c.seed(t, recorded(t, longSession)[:60]) // well below the window
	c.model.Say(agenttest.Answer{Text: "I was going to", Cut: true})
	c.ask(t, session, "go on")
	if r := c.ask(t, session, "/compact"); r.IsError || c.boundaries(t, session) != 1 {
		t.Fatalf("after an answer that was cut off: %+v, %d compactions", r, c.boundaries(t, session))
	}
	noSummaryAsked(t, c.model)
	c.ask(t, session, "go on")
	pairsWhole(t, c.model.Last(t))

	for _, broken := range []struct{ how, script string }{
		{"killed", "#!/bin/sh\n" + c.kagewasm + " \"$@\" & kill -9 $!; wait $!\n"},
		{"gone", ""},
		{"says nonsense", "#!/bin/sh\necho nonsense\n"},
	} {
		t.Run(broken.how, func(t *testing.T) {
			program := filepath.Join(c.Dir, "kagewasm-"+strings.ReplaceAll(broken.how, " ", "-"))
			if broken.script != "" {
				if err := os.WriteFile(program, []byte(broken.script), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			calls(t, c.path("hooks", "command.js"), program, "")
			before := c.boundaries(t, session)
			c.model.Say(agenttest.Answer{Text: "<summary>What Claude Code says itself.</summary>"})
			if r := c.ask(t, session, "/compact"); r.IsError || c.boundaries(t, session) != before+1 {
				t.Fatalf("%+v, %d compactions", r, c.boundaries(t, session)-before)
			}
			c.ask(t, session, "go on")
			if !c.model.Last(t).Says("What Claude Code says itself.") {
				t.Error("the built-in's summary is not in the request")
			}
		})
	}
}

// TestClaudeCodeUndo: what a compaction took is back in the very conversation, and what came later stays.
func TestClaudeCodeUndo(t *testing.T) {
	c := newClaude(t)
	c.install(t)
	msgs := recorded(t, longSession)[:60] // well below the window
	session := c.seed(t, msgs)
	c.ask(t, session, "/compact")
	c.ask(t, session, "a later question")
	compacted := c.model.Last(t)
	if r := c.ask(t, session, "/kagewasm status"); !strings.Contains(r.Text, "1 inserted") {
		t.Errorf("status: %s", r.Text)
	}
	if r := c.ask(t, session, "/kagewasm lost"); len(r.Text) < 100 {
		t.Errorf("lost: %s", r.Text)
	}
	c.ask(t, session, "/compact undo")
	c.ask(t, session, "and another")
	undone := c.model.Last(t)
	if undone.Says("compaction_summary-") || !undone.Says("a later question") || 2*undone.Size() < 3*compacted.Size() {
		t.Errorf("%d bytes, compacted %d; the note is there: %v", undone.Size(), compacted.Size(),
			undone.Says("compaction_summary-"))
	}
	pairsWhole(t, undone)
	if r := c.ask(t, session, "/compact undo"); !strings.Contains(r.Text, "no compaction is in force") {
		t.Errorf("undone twice: %+v", r)
	}
}

// TestClaudeCodeWithoutMods: a version without mods summarizes itself, is told what to keep, and is given the note.
func TestClaudeCodeWithoutMods(t *testing.T) {
	c := newClaude(t)
	old := filepath.Join(c.Dir, "old")
	if err := os.MkdirAll(old, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(old, "claude"), []byte("#!/bin/sh\necho 2.1.200\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for i, v := range c.Env {
		if path, ok := strings.CutPrefix(v, "PATH="); ok {
			c.Env[i] = "PATH=" + old + string(os.PathListSeparator) + path
		}
	}
	if out := c.Must(t, c.kagewasm, "install", "claude-code"); !strings.Contains(out, "has no mods") ||
		strings.Contains(out, "compacts through kagewasm") {
		t.Error(out)
	}
	if out := c.Must(t, c.kagewasm, "doctor", "claude-code"); !strings.Contains(out, "its hooks have a note") {
		t.Error(out)
	}
	session := c.seed(t, recorded(t, longSession)[:60])
	c.model.Say(agenttest.Answer{Text: "<summary>What Claude Code says itself.</summary>"})
	c.ask(t, session, "/compact")
	if asked := c.model.Last(t); !asked.Says("Keep them word for word in the summary") {
		t.Error("the summarizer was not told what to keep")
	}
	c.ask(t, session, "go on")
	if now := c.model.Last(t); !now.Says("What the summary may have left out") ||
		!now.Says("What Claude Code says itself.") {
		t.Errorf("the note is not in the request: %.3000s", now.Body)
	}
	settings := filepath.Join(c.State, "kagewasm", "agents", "claude-code.yaml")
	if err := os.WriteFile(settings, []byte("compaction: {upper_threshold: high}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	asked := len(c.model.Requests())
	c.model.Say(agenttest.Answer{Text: "<summary>What Claude Code says once more.</summary>"})
	c.ask(t, session, "/compact")
	if len(c.model.Requests()) == asked {
		t.Error("where the hook fails Claude Code does not compact")
	}
	out := c.Run(t, c.kagewasm, "doctor", "claude-code")
	if out.Err == nil || !strings.Contains(out.Stdout, "last hook") {
		t.Errorf("%v: %s", out.Err, out.Stdout)
	}
}

// aPNG is a picture of one dot.
const aPNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

// TestClaudeCodeImages: an image that a person sent is in the request behind a compaction that keeps its message; a
// result that was one says how it can be seen again.
func TestClaudeCodeImages(t *testing.T) {
	c := newClaude(t)
	c.install(t)
	image := map[string]any{"type": "image", "source": map[string]any{"type": "base64", "media_type": "image/png",
		"data": aPNG}}
	part := func(v any) abi.Part {
		data, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		var p abi.Part
		if err := p.UnmarshalJSON(data); err != nil {
			t.Fatal(err)
		}
		return p
	}
	msgs := append([]abi.Message(nil), recorded(t, longSession)[:60]...)
	msgs = append(msgs,
		abi.Message{ID: "img1", Role: abi.RoleUser, Content: abi.Parts(abi.TextPart("What is in this picture?"),
			part(image))},
		abi.Message{ID: "img2", Role: abi.RoleAssistant, Content: abi.Text("A dot.")})
	session := c.seed(t, msgs)
	c.model.Say(agenttest.Answer{Calls: []agenttest.Call{{Name: "Read",
		Input: map[string]any{"file_path": filepath.Join(c.Project,
			"dot.png")}}}})
	png, err := base64.StdEncoding.DecodeString(aPNG)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(c.Project, "dot.png"), png, 0o644); err != nil {
		t.Fatal(err)
	}
	c.ask(t, session, "And in that file?")
	if n := strings.Count(string(c.model.Last(t).Body), `"image/png"`); n != 2 {
		t.Fatalf("%d images before the compaction", n)
	}
	c.ask(t, session, "/compact")
	c.ask(t, session, "go on")
	now := c.model.Last(t)
	const told = "[image: no longer shown; Read shows the file again]"
	if n := strings.Count(string(now.Body), `"image/png"`); n != 1 || !now.Says(told) {
		t.Errorf("%d images behind the compaction; the result tells of its own: %v", n, now.Says(told))
	}
	noSummaryAsked(t, c.model)
}

// TestClaudeCodeShrinksResults: with the option set a giant result is shortened before the model ever sees it.
func TestClaudeCodeShrinksResults(t *testing.T) {
	c := newClaude(t)
	c.install(t)
	file := filepath.Join(c.Project, "giant.txt")
	if err := os.WriteFile(file, []byte("first line\n"+strings.Repeat("a line of the middle\n", 1000)+"last line\n"),
		0o644); err != nil {
		t.Fatal(err)
	}
	show := func() agenttest.Request {
		c.model.Say(agenttest.Answer{Calls: []agenttest.Call{bashCat(file)}})
		c.ask(t, "", "Show it.")
		return c.model.Last(t)
	}
	if whole := show(); whole.Says("characters left out") {
		t.Error("it is shortened without the option")
	}
	out := c.RunWith(t, `{"shrinkResultsOver":"2000"}`, c.program, "plugin", "configure", "kagewasm@skills-dir",
		"--values-stdin")
	if out.Err != nil {
		t.Fatalf("%v %s", out.Err, out.Stderr)
	}
	short := show()
	if !short.Says("characters left out") || !short.Says("first line") || !short.Says("last line") ||
		short.Size() > 15_000 {
		t.Errorf("%d bytes of messages; what is left out is told: %v", short.Size(), short.Says("characters left out"))
	}
}
