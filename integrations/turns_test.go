package integrations_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/kagewasm/kagewasm/internal/agenttest"
	"github.com/kagewasm/kagewasm/internal/features"
	"github.com/kagewasm/kagewasm/internal/wasmtest"
)

// askingPlugin retains a fact at the end of each turn, and asks for a compaction with instructions.
var askingPlugin = wasmtest.WithManifest(
	wasmtest.Answer("turn_end", `{"retain":["The port is 8080."],"request_compaction":{"instructions":"keep the ports"}}`),
	`{"name":"asks","version":"1.0.0","abi":1,"roles":["observer"],"hooks":["turn_end"],`+
		`"capabilities":{"compaction.request":{"reason":"it asks"}}}`)

// asking has the plug of an agent load a plugin that asks for a compaction when a turn has ended.
func asking(t *testing.T, h *agenttest.Home, agent string) {
	t.Helper()
	folder := filepath.Join(h.State, "kagewasm", "agents")
	settings := "compaction: {observers: [asks]}\nplugins: {asks: {path: asks.wasm, grants: {compaction.request: true}}}\n"
	for name, text := range map[string]string{"asks.wasm": string(askingPlugin), agent + ".yaml": settings} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// heard waits until the plugin has heard of a turn, which nobody waits for: its fact is in the memory then.
func heard(t *testing.T, h *agenttest.Home) {
	t.Helper()
	if !hears(t, h, 600) {
		t.Error("the plugin heard of no turn")
	}
}

// hears reports whether the plugin has heard of a turn, after that many looks at the most.
func hears(t *testing.T, h *agenttest.Home, looks int) bool {
	t.Helper()
	for range looks {
		if strings.Contains(h.Run(t, agenttest.Kagewasm(t), "memory", "list").Stdout, "asks") {
			return true
		}
		time.Sleep(100 * time.Millisecond)
	}
	return false
}

// compactedForPlugins is how many compactions in the store plugins asked for.
func compactedForPlugins(t *testing.T, h *agenttest.Home) int {
	t.Helper()
	out := h.Run(t, agenttest.Kagewasm(t), "audit", "export").Stdout
	n := 0
	for line := range strings.Lines(out) {
		if strings.Contains(line, `"compaction.completed"`) && strings.Contains(line, `"trigger":"plugin"`) {
			n++
		}
	}
	return n
}

// rollbacks are how often the store has a session going back.
func rollbacks(t *testing.T, h *agenttest.Home) int {
	t.Helper()
	return strings.Count(h.Must(t, agenttest.Kagewasm(t), "audit", "export"), `"type":"session.rolled_back"`)
}

// TestClaudeCodeTurns: plugins hear of the turns of Claude Code, which go on where one asks for a compaction. How the
// mod has it compact then, and by the command, its own tests show: claude -p ends before.
func TestClaudeCodeTurns(t *testing.T) {
	features.Proves(t, "T2", "O4")
	c := newClaude(t)
	c.Env = slices.DeleteFunc(c.Env, func(v string) bool { // which closes sockets to mods
		return strings.HasPrefix(v, "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC")
	})
	c.install(t)
	asking(t, c.Home, "claude-code")
	c.Must(t, c.kagewasm, "serve", "--background")
	calls(t, c.path("hooks", "command.js"), "/none/kagewasm", c.Socket())
	session := c.seed(t, recorded(t, longSession)[:60]) // well below the window
	told := false
	for n := 0; n < 20 && !told; n++ { // claude -p gives mods 1.5 seconds at its end, which a busy machine may not have
		if r := c.ask(t, session, "go on"); r.IsError || r.Text != "done" {
			t.Fatalf("the turn: %+v", r)
		}
		told = hears(t, c.Home, 20)
	}
	if !told {
		t.Error("the plugin heard of no turn")
	}
	c.ask(t, session, "and on")
	if !c.model.Last(t).Says("and on") {
		t.Error("Claude Code did not go on")
	}
	noSummaryAsked(t, c.model)
}

// TestPiTurns: what a plugin asks for at the end of a turn pi compacts through us, and what follows goes on from there.
func TestPiTurns(t *testing.T) {
	features.Proves(t, "T2", "O4")
	a := newPi(t)
	a.Must(t, a.kagewasm, "install", "pi")
	asking(t, a.Home, "pi")
	turns := agenttest.Replay(t, recorded(t, longSession), a.Project, bashCommand)
	for _, turn := range turns[:3] {
		a.model.Say(turn.Answers...)
		a.pi(t, turn.Prompt)
	}
	heard(t, a.Home)
	all, ours := a.compactions(t)
	if n := compactedForPlugins(t, a.Home); n == 0 || ours == 0 || ours != all {
		t.Fatalf("%d compactions, %d of them ours, %d in the store that a plugin asked for", all, ours, n)
	}
	a.pi(t, "go on")
	if !a.model.Last(t).Says("compaction_summary-") {
		t.Error("the note is not in the request")
	}
	for i, r := range a.model.Requests() {
		if strings.Contains(string(r.Body), "context summarization assistant") {
			t.Errorf("request %d asks the model for a summary", i)
		}
		chatPairsWhole(t, i, r)
	}
}

// TestOpenCodeTurns: what a plugin asks for when a session of opencode waits for a person is a plan by its next call.
func TestOpenCodeTurns(t *testing.T) {
	features.Proves(t, "T2", "O4")
	a := newOpenCode(t)
	a.Must(t, a.kagewasm, "install", "opencode")
	asking(t, a.Home, "opencode")
	turns := agenttest.Replay(t, recorded(t, longSession), a.Project, bashCommand)
	for _, turn := range turns[:2] {
		a.model.Say(turn.Answers...)
		a.opencode(t, turn.Prompt)
	}
	heard(t, a.Home)
	if n := compactedForPlugins(t, a.Home); n == 0 {
		t.Error("no compaction in the store that a plugin asked for")
	}
	a.opencode(t, "go on")
	if !a.model.Last(t).Says("compaction_summary-") {
		t.Errorf("the note is not in the request: %.3000s", a.model.Last(t).Body)
	}
}

// TestCodexTurns: the proxy tells plugins when an answer to Codex ends a turn, and compacts with the next request what
// one of them wants, which Codex goes on from.
func TestCodexTurns(t *testing.T) {
	features.Proves(t, "T2", "O4")
	c := newCodex(t)
	c.install(t)
	asking(t, c.Home, "codex")
	c.kill()
	c.settings = []string{"--config", filepath.Join(c.State, "kagewasm", "agents", "codex.yaml")}
	c.start(t)
	c.work(2)
	c.exec(t, false, "Run the tests.")
	heard(t, c.Home)
	c.exec(t, true, "go on")
	if !c.model.Last(t).Says("compaction_summary-") || compactedForPlugins(t, c.Home) == 0 {
		t.Errorf("%d compactions that a plugin asked for; the last request: %.3000s", compactedForPlugins(t, c.Home),
			c.model.Last(t).Body)
	}
	whole(t, len(c.model.Requests()), c.model.Last(t))
}

// TestOpenClawTurns: what a plugin asks for when a turn is committed holds from the next assembly on, and the commit
// does not wait for it. OpenClaw hands over the turn alone: what was before it is not forgotten.
func TestOpenClawTurns(t *testing.T) {
	features.Proves(t, "T2", "O4")
	msgs := clawMessages(demo(t).Messages)
	from := len(msgs) - 1
	for from > 0 && msgs[from].Role != "user" {
		from--
	}
	input := map[string]any{"sessionId": "claw:turns", "messages": msgs[:from], "turn": msgs[from:],
		"tokenBudget": 2_000_000}
	var got struct {
		Before, After assembled
		Status        string
		Timers        int
	}
	const plug = ".openclaw/extensions/kagewasm"
	h := drive(t, "openclaw", "node", "turns.mjs", plug, input, &got)
	if got.Status != "committed" || len(got.After.Messages) != len(msgs) {
		t.Errorf("where no plugin hears of turns: %s, %d messages of %d", got.Status, len(got.After.Messages), len(msgs))
	}
	asking(t, h, "openclaw")
	input["sessionId"] = "claw:asked"
	again(t, h, "node", "turns.mjs", plug, input, &got)
	heard(t, h)
	if len(got.Before.Messages) != from || len(got.After.Messages) >= len(msgs) || compactedForPlugins(t, h) != 1 {
		t.Errorf("%d messages before the turn of %d, %d behind it of %d, %d compactions that a plugin asked for",
			len(got.Before.Messages), from, len(got.After.Messages), len(msgs), compactedForPlugins(t, h))
	}
	clawPairsWhole(t, got.After.Messages)
	breaks(t, h, plug+"/command.js")
	input["sessionId"] = "claw:alone"
	again(t, h, "node", "turns.mjs", plug, input, &got)
	if got.Status != "committed" || len(got.After.Messages) != len(msgs) {
		t.Errorf("without kagewasm: %s, %d messages of %d", got.Status, len(got.After.Messages), len(msgs))
	}
	if got.Timers != 0 {
		t.Errorf("%d timers keep an agent without kagewasm from ending", got.Timers)
	}
}

// TestHermesTurns: what a plugin asks for at the end of a turn of hermes is compressed before the next turn's first
// call, once. Of a turn that was interrupted nobody hears.
func TestHermesTurns(t *testing.T) {
	features.Proves(t, "T2", "O4")
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
	type result struct {
		Interrupted, Early, Wanted, Due, Again bool
		Left                                   []json.RawMessage
	}
	const plug = ".hermes/plugins/kagewasm"
	var got result
	h := drive(t, "hermes", "python3", "turns.py", plug, input.Messages, &got)
	if got.Interrupted || got.Early || got.Wanted || got.Due {
		t.Errorf("where no plugin hears of turns: %+v", got)
	}
	asking(t, h, "hermes")
	got = result{}
	again(t, h, "python3", "turns.py", plug, input.Messages, &got)
	heard(t, h)
	if got.Interrupted || got.Early || !got.Wanted || !got.Due || got.Again || len(got.Left) >= len(input.Messages) ||
		compactedForPlugins(t, h) != 1 {
		t.Errorf("wanted %v, due %v, again %v, %d messages left of %d, %d compactions that a plugin asked for", got.Wanted,
			got.Due, got.Again, len(got.Left), len(input.Messages), compactedForPlugins(t, h))
	}
	chatPairsWhole(t, 1, agenttest.Request{Messages: got.Left})
	breaks(t, h, plug+"/command.py")
	got = result{}
	again(t, h, "python3", "turns.py", plug, input.Messages, &got)
	if got.Wanted || got.Due || len(got.Left) != len(input.Messages) {
		t.Errorf("without kagewasm: wanted %v, %d messages left of %d", got.Wanted, len(got.Left), len(input.Messages))
	}
}
